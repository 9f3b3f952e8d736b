import type { Store } from '#service/store/store.ts';
import { generated, transactionsOfTrace } from './generated-index.ts';
import { meaningsOf, multisigKey, vestingKey } from './generated-meaning.ts';
import { tokenKeys, type TokenCounts } from './generated-tokens.ts';
import { list, type Requests } from './requests.ts';

/** Names, multisigs, vestings and traces to ask for: accounts drawn as they are in the index. */
type Sample = {
  readonly domain: string;
  readonly wallet: string | null;
  readonly multisig: string;
  readonly signer: string;
  readonly vesting: string;
  readonly vestingOwner: string;
  readonly account: string;
  readonly transaction: string;
  readonly message: string;
  readonly action: string;
  readonly trace: string;
  readonly mcSeqno: number;
  readonly utime: number;
  readonly lt: bigint;
};

const samples = 220;

const hour = (row: Sample): string => `start_utime=${row.utime - 3600}&end_utime=${row.utime}`;

/** Requests about names, multisigs, vestings and actions: of what most accounts have, and of the busiest. */
export async function meaningRequestsOf(store: Store, counts: TokenCounts): Promise<readonly Requests[]> {
  const rows = await drawSamples(store, counts);
  const of = (make: (row: Sample) => string) => (turn: number) => make(rows[turn % rows.length] as Sample);
  const [first] = await store.read<{ account: string }>(`SELECT ${addressOf(generated.accountAt('0'))} AS account`);
  const busy = `account=${first?.account ?? ''}`;
  return list({
    'dns/records of a name': of((row) => `domain=${row.domain}`),
    'dns/records of a wallet': of((row) => `wallet=${row.wallet ?? ''}`),
    'dns/records of the busiest wallet': () => `wallet=${first?.account ?? ''}`,
    'multisig/wallets by address': of((row) => `address=${row.multisig}`),
    'multisig/wallets of a signer': of((row) => `wallet_address=${row.signer}`),
    'multisig/wallets of the busiest signer': () => `wallet_address=${first?.account ?? ''}`,
    'multisig/orders of a multisig': of((row) => `multisig_address=${row.multisig}`),
    'multisig/orders of a multisig, parsed': of((row) => `multisig_address=${row.multisig}&parse_actions=true`),
    'vesting by address': of((row) => `contract_address=${row.vesting}`),
    'vesting of a wallet': of((row) => `wallet_address=${row.vestingOwner}`),
    'vesting of the busiest wallet, also by the whitelist': () =>
      `wallet_address=${first?.account ?? ''}&check_whitelist=true`,
    'actions latest': () => '',
    'actions of an account': of((row) => `account=${row.account}`),
    'actions of an account, oldest first': of((row) => `account=${row.account}&sort=asc`),
    'actions of the busiest account, page 11': () => `${busy}&offset=1000`,
    'actions of the busiest account in an hour': of((row) => `${busy}&${hour(row)}`),
    'actions of an account and a type': of((row) => `account=${row.account}&action_type=jetton_transfer`),
    'actions of a type': () => 'action_type=nft_transfer',
    'actions but a type': () => 'exclude_action_type=ton_transfer',
    'actions in an hour': of(hour),
    'actions in a window of lt': of(({ lt }) => `start_lt=${lt}&end_lt=${lt + 10_000_000_000n}&sort=asc`),
    'actions by transaction': of((row) => `tx_hash=${row.transaction}`),
    'actions by message': of((row) => `msg_hash=${row.message}`),
    'actions by id': of((row) => `action_id=${row.action}`),
    'actions by trace': of((row) => `trace_id=${row.trace}`),
    'actions by mc_seqno': of((row) => `mc_seqno=${row.mcSeqno}`),
    'balanceChanges of a trace': of((row) => `trace_id=${row.trace}`),
    'balanceChanges of an action': of((row) => `action_id=${row.action}`),
    'traces with actions': () => 'include_actions=true',
    'traces of an account with actions': of((row) => `account=${row.account}&include_actions=true`),
  });
}

const addressOf = (key: string): string => `'0:' || encode(substr(${key}, 2), 'hex')`;

const hex = (expression: string): string => `encode(${expression}, 'hex')`;

/** A number below `count`, by the number `s` of the sample. */
const drawn = (what: string, count: number): string => `(abs(hashtextextended('${what}', s)) % ${count})`;

async function drawSamples(store: Store, counts: TokenCounts): Promise<readonly Sample[]> {
  const { names, multisigs, vestings, traces } = meaningsOf(counts);
  const { lt, utime, hash, block } = generated;
  const root = `n * ${transactionsOfTrace}`;
  return store.read<Sample>(
    `SELECT d.domain, ${addressOf('d.wallet')} AS wallet, ${addressOf('m.address')} AS multisig, ${addressOf('m.signers[1]')} AS signer,
       ${addressOf('v.address')} AS vesting, ${addressOf('v.owner')} AS "vestingOwner",
       ${addressOf('a.accounts[1]')} AS account, ${hex(hash('t', root))} AS transaction, ${hex(hash('m', root))} AS message,
       ${hex(hash('a', 'n * 2'))} AS action, ${hex(hash('t', root))} AS trace, ${block(root)} AS "mcSeqno", ${utime(root)} AS utime, ${lt(root)} AS lt
     FROM (SELECT s, ${drawn('trace', traces)} AS n FROM generate_series(1, ${samples}) AS s) drawn
     JOIN dns_entries d ON d.nft_item = ${tokenKeys.item(drawn('name', names))}
     JOIN multisigs m ON m.address = ${multisigKey(drawn('multisig', multisigs))}
     JOIN vesting_contracts v ON v.address = ${vestingKey(drawn('vesting', vestings))}
     JOIN actions a ON a.trace_id = ${hash('t', root)} AND a.action_id = ${hash('a', 'n * 2')}`,
    [],
    { timeoutMs: 60_000 },
  );
}
