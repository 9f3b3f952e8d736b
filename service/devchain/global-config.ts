import type { BlockId } from '../decode/block-id.ts';

/** Number that `JSON.stringify` writes verbatim. A JavaScript number would lose digits, and some clients accept no string for it. */
type ExactNumber = { readonly rawJSON: string };

/** ECMAScript 2026 has `rawJSON`; the compiler's library does not describe it yet. */
const { rawJSON } = JSON as unknown as { rawJSON: (this: void, text: string) => ExactNumber };

type BlockJson = {
  readonly '@type': 'tonNode.blockIdExt';
  readonly workchain: number;
  /** Signed 64 bits: in JSON text a number with all its digits. */
  readonly shard: ExactNumber;
  readonly seqno: number;
  readonly root_hash: string;
  readonly file_hash: string;
};

/** The ecosystem's `global.config.json` (service/liteserver/README.md#global-config). */
export type GlobalConfig = {
  readonly '@type': 'config.global';
  readonly dht: object;
  readonly liteservers: readonly {
    readonly '@type': 'liteserver.desc';
    /** IPv4 as a signed 32-bit number, first part highest. */
    readonly ip: number;
    readonly port: number;
    readonly id: { readonly '@type': 'pub.ed25519'; readonly key: string };
  }[];
  readonly validator: {
    readonly '@type': 'validator.config.global';
    readonly zero_state: BlockJson;
    readonly init_block: BlockJson;
    readonly hardforks: readonly [];
  };
};

type Address = { readonly host: string; readonly port: number; readonly publicKey: Buffer };

/**
 * Builds a network's configuration.
 * @param initBlock the block that clients trust and prove all else from: a key block or the zerostate. Few clients support links from a
 * zerostate.
 */
export function buildGlobalConfig(
  { zeroState, initBlock }: { readonly zeroState: BlockId; readonly initBlock: BlockId },
  liteServers: readonly Address[],
): GlobalConfig {
  return {
    '@type': 'config.global',
    dht: {
      '@type': 'dht.config.global',
      k: 3,
      a: 3,
      static_nodes: { '@type': 'dht.nodes', nodes: [] },
    },
    liteservers: liteServers.map(({ host, port, publicKey }) => ({
      '@type': 'liteserver.desc',
      ip: signedAddress(host),
      port,
      id: { '@type': 'pub.ed25519', key: publicKey.toString('base64') },
    })),
    validator: {
      '@type': 'validator.config.global',
      zero_state: blockJson(zeroState),
      init_block: blockJson(initBlock),
      hardforks: [],
    },
  };
}

function blockJson({ workchain, shard, seqno, rootHash, fileHash }: BlockId): BlockJson {
  return {
    '@type': 'tonNode.blockIdExt',
    workchain,
    shard: rawJSON(BigInt.asIntN(64, shard).toString()),
    seqno,
    root_hash: rootHash.toString('base64'),
    file_hash: fileHash.toString('base64'),
  };
}

/** Servers that listen everywhere are reached on loopback. The format does not support names. */
function signedAddress(host: string): number {
  const address = host === '0.0.0.0' || !/^\d+\.\d+\.\d+\.\d+$/.test(host) ? '127.0.0.1' : host;
  return address.split('.').reduce((sum, part) => (sum << 8) | Number(part), 0);
}
