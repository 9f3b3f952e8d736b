import { useApplication } from '../context.ts';
import { parseBoc } from '../cells.ts';
import { decodeParameter } from '../config/parameters.ts';
import type { ConfigValue } from '../config/values.ts';
import { formatCount } from '../format.ts';
import { html } from '../html.ts';
import type { Block } from '../objects.ts';
import { BlockLink } from '../parts/block-link.ts';
import { Facts } from '../parts/facts.ts';
import { Hash } from '../parts/hash.ts';
import { Json } from '../parts/json.ts';
import { Loaded } from '../parts/loaded.ts';
import { useLoad } from '../use-load.ts';
import { words } from '../texts.ts';
import { hexShard, signedShard } from './load-block.ts';

/** Workchain of the masterchain. */
const MASTERCHAIN = -1;

/** Parameter of the validators in force. */
const VALIDATORS = 34;

/** The proof of a block: signatures of a masterchain block, links of a shard block to a masterchain block. */
export function BlockProof({ block }: { readonly block: Block }) {
  return block.workchain === MASTERCHAIN
    ? html`<${Signatures} seqno=${block.seqno} />`
    : html`<${Links} block=${block} />`;
}

type Signature = { readonly node_id_short: string; readonly signature: string };

type SignaturesAnswer = {
  readonly signatures: readonly Signature[];
  readonly session_id?: string;
  readonly slot?: number;
};

type Signed = { readonly answer: SignaturesAnswer; readonly validators: number | undefined };

function Signatures({ seqno }: { readonly seqno: number }) {
  const { api } = useApplication();
  const load = useLoad<Signed>(`signatures ${seqno}`, async (signal) => {
    // The validators of a block are those of the state before it.
    const before = Math.max(1, seqno - 1);
    const [answer, parameter] = await Promise.all([
      api.v2<SignaturesAnswer>('getMasterchainBlockSignatures', { seqno }, signal),
      api.v2<{ config: { bytes: string } }>('getConfigParam', { config_id: VALIDATORS, seqno: before }, signal),
    ]);
    return { answer, validators: countValidators(parameter.config.bytes) };
  });
  return html`<p class="faint">${words.block.proof.masterchain}</p>
    <${Loaded} load=${load} draw=${(signed: Signed) => html`<${SignatureTable} signed=${signed} />`} />`;
}

/** Validators of the masterchain; undefined for a parameter without a known form. */
function countValidators(bytes: string): number | undefined {
  const { value } = decodeParameter(VALIDATORS, parseBoc(bytes));
  const rows = value?.kind === 'group' ? value.rows : [];
  const main = rows.find(([name]) => name === 'main')?.[1] as Extract<ConfigValue, { kind: 'number' }> | undefined;
  return main === undefined ? undefined : Number(main.text);
}

function SignatureTable({ signed: { answer, validators } }: { readonly signed: Signed }) {
  const { signatures, session_id: session, slot } = answer;
  const names = words.block.proof;
  return html`<${Facts}
      rows=${[
        [names.count, names.countOf(formatCount(signatures.length), validators)],
        [names.session, session === undefined ? undefined : html`<${Hash} hash=${session} />`],
        [names.slot, slot === undefined ? undefined : formatCount(slot)],
      ]}
    />
    <details>
      <summary>${names.signatures}</summary>
      <div class="scroll">
        <table aria-label=${names.signatures}>
          <thead>
            <tr>
              <th scope="col">${names.node}</th>
              <th scope="col">${names.signature}</th>
            </tr>
          </thead>
          <tbody>
            ${signatures.map(
              ({ node_id_short: node, signature }) =>
                html`<tr key=${node}>
                  <td><${Hash} hash=${node} /></td>
                  <td><${Hash} hash=${signature} /></td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </details>`;
}

type TypedBlock = { readonly workchain: number; readonly shard: string; readonly seqno: number };

type ShardProof = {
  readonly from: TypedBlock;
  readonly mc_id: TypedBlock;
  readonly links: readonly { readonly id: TypedBlock }[];
  readonly mc_proof: readonly { readonly from: TypedBlock; readonly to: TypedBlock }[];
};

const refOf = ({ workchain, shard, seqno }: TypedBlock): TypedBlock => ({ workchain, shard: hexShard(shard), seqno });

function Links({ block }: { readonly block: Block }) {
  const { api } = useApplication();
  const { workchain, shard, seqno } = block;
  const load = useLoad<ShardProof>(`proof ${workchain} ${shard} ${seqno}`, async (signal) =>
    api.v2<ShardProof>('getShardBlockProof', { workchain, shard: signedShard(shard), seqno }, signal),
  );
  const names = words.block.proof;
  return html`<p class="faint">${names.shard}</p>
    <${Loaded}
      load=${load}
      draw=${(proof: ShardProof) =>
        html`<ol class="proof">
            <li>${names.head} <${BlockLink} block=${refOf(proof.from)} /></li>
            ${proof.mc_proof.map(
              ({ to }, at) => html`<li key="back-${at}">${names.back} <${BlockLink} block=${refOf(to)} /></li>`,
            )}
            ${proof.links.map(
              ({ id }, at) =>
                html`<li key="link-${at}">
                  ${at === 0 ? names.top : names.before} <${BlockLink} block=${refOf(id)} />
                </li>`,
            )}
          </ol>
          <${Json} value=${proof} />`}
    />`;
}
