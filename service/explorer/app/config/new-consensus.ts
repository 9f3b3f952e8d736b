import { readDictionary, readerOf, type Reader } from '../cells.ts';
import { group, readFields } from './read-fields.ts';
import type { ConfigValue, Named } from './values.ts';

/** Names of the entries of `noncritical_params` by key, from the node. Times are milliseconds. */
const entryNames = [
  'target_rate_ms',
  'first_block_timeout_ms',
  'first_block_timeout_multiplier',
  'first_block_timeout_cap_ms',
  'candidate_resolve_timeout_ms',
  'candidate_resolve_timeout_multiplier',
  'candidate_resolve_timeout_cap_ms',
  'candidate_resolve_cooldown_ms',
  'standstill_timeout_ms',
  'standstill_max_egress_bytes_per_s',
  'max_leader_window_desync',
  'bad_signature_ban_duration_ms',
  'candidate_resolve_rate_limit',
];

const head = ':u7 use_quic:flag';

/** `new_consensus_config_all#10`: the simplex consensus of the masterchain and of shards. */
export function newConsensus(reader: Reader): ConfigValue {
  if (reader.uint(8) !== 0x10n) throw new Error('an unknown tag');
  const rows: Named[] = [];
  for (const chain of ['masterchain', 'shards']) {
    if (reader.bit()) rows.push([chain, simplex(readerOf(reader.ref()))]);
  }
  return group(rows);
}

function simplex(reader: Reader): ConfigValue {
  const tag = Number(reader.uint(8));
  if (tag === 0x21) {
    const layout =
      'target_rate_ms:u32 slots_per_leader_window:u32 first_block_timeout_ms:u32 max_leader_window_desync:u32';
    return group(readFields(reader, `${head} ${layout}`));
  }
  if (tag !== 0x22) throw new Error('an unknown tag');
  const rows = readFields(reader, `${head} slots_per_leader_window:u32`);
  const entries = reader.bit() ? readDictionary(reader.ref(), 8) : [];
  return group([...rows, ...entries.map(([key, value]) => entry(Number(key), Number(value.uint(32))))]);
}

function entry(key: number, value: number): Named {
  const name = entryNames[key] ?? `parameter_${key}`;
  const text = name.endsWith('_multiplier') ? textOfFloat(value) : String(value);
  return [name, { kind: name.endsWith('_multiplier') ? 'decimal' : 'number', text }];
}

/** The shortest decimal number that has these 32 bits as a float. */
function textOfFloat(bits: number): string {
  const value = new Float32Array(Uint32Array.of(bits).buffer)[0] ?? 0;
  for (let digits = 1; digits < 9; digits++) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return String(Number(text));
  }
  return String(value);
}
