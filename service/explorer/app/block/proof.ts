import { useApplication } from '../context.ts';
import { parseBoc } from '../cells.ts';
import { decodeParameter } from '../config/parameters.ts';
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
import { masterchainValidators, nodeIdOf, percentOf, weigh, type Weights } from './weights.ts';

/** Workchain of the masterchain, and its only shard. */
const MASTERCHAIN = -1;
const FULL_SHARD = '8000000000000000';

/** Parameters of the validators in force. The first replaces the second for a while after keys were replaced. */
const TEMPORARY_VALIDATORS = 35;
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

/** Weights are undefined for a set of an unknown form, and on a page that is not secure. There the browser computes no hashes. */
type Signed = {
  readonly answer: SignaturesAnswer;
  readonly validators: number | undefined;
  readonly weights: Weights | undefined;
};

type ParameterAnswer = { readonly config: { readonly bytes: string } };

function Signatures({ seqno }: { readonly seqno: number }) {
  const { api } = useApplication();
  const load = useLoad<Signed>(`signatures ${seqno}`, async (signal) => {
    // The validators of a block are those of the state before it.
    const before = Math.max(1, seqno - 1);
    const parameter = (id: number): Promise<ParameterAnswer> =>
      api.v2<ParameterAnswer>('getConfigParam', { config_id: id, seqno: before }, signal);
    const [answer, temporary, lasting] = await Promise.all([
      api.v2<SignaturesAnswer>('getMasterchainBlockSignatures', { seqno }, signal),
      parameter(TEMPORARY_VALIDATORS),
      parameter(VALIDATORS),
    ]);
    const bytes = temporary.config.bytes || lasting.config.bytes;
    const validators = masterchainValidators(decodeParameter(VALIDATORS, parseBoc(bytes)).value);
    const nodes = answer.signatures.map(({ node_id_short: node }) => node);
    // Only a secure page has the functions of `crypto.subtle`.
    const canWeigh = validators !== undefined && isSecureContext;
    const weights = canWeigh ? await weigh(nodes, validators, nodeIdOf) : undefined;
    return { answer, validators: validators?.length, weights };
  });
  return html`<p class="faint">${words.block.proof.masterchain}</p>
    <${Loaded}
      load=${load}
      draw=${(signed: Signed) => html`<${SignatureTable} signed=${signed} before=${seqno - 1} />`}
    />`;
}

function SignatureTable({
  signed: { answer, validators, weights },
  before,
}: {
  readonly signed: Signed;
  readonly before: number;
}) {
  const { signatures, session_id: session, slot } = answer;
  const names = words.block.proof;
  return html`<${Facts}
      rows=${[
        [names.count, names.countOf(formatCount(signatures.length), validators)],
        [names.weight, weights === undefined ? names.noWeight : weightText(weights)],
        [names.enough, weights && html`<span class=${weights.isEnough ? 'good' : 'bad'}>${enoughText(weights)}</span>`],
        [
          names.setOf,
          before > 0
            ? html`<${BlockLink} block=${{ workchain: MASTERCHAIN, shard: FULL_SHARD, seqno: before }} />`
            : undefined,
        ],
        [names.session, session === undefined ? undefined : html`<${Hash} hash=${session} />`],
        [names.slot, slot === undefined ? undefined : formatCount(slot)],
      ]}
    />
    <details>
      <summary>${names.signatures}</summary>
      <div class="scroll" tabindex="0" role="region" aria-label=${names.signatures}>
        <table aria-label=${names.signatures}>
          <thead>
            <tr>
              <th scope="col">${names.node}</th>
              <th scope="col">${names.key}</th>
              <th scope="col" class="number">${names.weight}</th>
              <th scope="col">${names.signature}</th>
            </tr>
          </thead>
          <tbody>
            ${signatures.map(({ node_id_short: node, signature }, at) => {
              const validator = weights?.signers[at]?.validator;
              return html`<tr key=${node}>
                <td><${Hash} hash=${node} /></td>
                <td>${validator === undefined ? '–' : html`<${Hash} hash=${validator.key} />`}</td>
                <td class="number">
                  ${validator === undefined || weights === undefined ? '–' : names.share(formatCount(validator.weight), percentOf(validator.weight, weights.total))}
                </td>
                <td><${Hash} hash=${signature} /></td>
              </tr>`;
            })}
          </tbody>
        </table>
      </div>
    </details>`;
}

const weightText = ({ signed, total }: Weights): string =>
  words.block.proof.weightOf(formatCount(signed), formatCount(total), percentOf(signed, total));

const enoughText = ({ isEnough }: Weights): string => (isEnough ? words.parts.yes : words.parts.no);

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
