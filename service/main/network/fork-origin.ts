import type { Logger } from 'pino';
import { Registry } from 'prom-client';

import { configFromGlobalConfig, devConfig, type ServiceConfig } from '#service/config.ts';
import type { BlockId } from '#service/decode/block-id.ts';
import { sameBlock } from '#service/decode/block-id.ts';
import type { ForkPoint } from '#service/devchain/fork/fork.ts';
import { zeroStateBlock } from '#service/proof/trusted-blocks.ts';
import { getMasterchainInfo } from '#service/liteserver/functions.ts';
import { createLiteServer } from '#service/liteserver/liteserver.ts';
import type { LiteServerOptions } from '#service/liteserver/options.ts';
import { StartError } from '../errors.ts';
import { readNamedFile } from '../configuration/named-files.ts';

/** Value of `--fork`: a network, by its configuration file or a lite server, and a masterchain block. */
export type ForkOrigin = {
  readonly network: { readonly file: string } | { readonly host: string; readonly port: number; readonly key: Buffer };
  /** Undefined for the newest block. */
  readonly seqno: number | undefined;
};

/** Time for a connection and one query. An available lite server answers in well under a second. */
const INFO_TIMEOUT_MS = 10_000;

/** Shorter time when the network can continue without the answer. */
const QUICK_INFO_TIMEOUT_MS = 3000;

/** A single lite server has the whole load. A private server bears as much as a public server does. */
const alone = {
  name: 'origin',
  role: 'archive',
  weight: 1,
  maxInFlight: 64,
  tier: 'shared',
  cordoned: false,
  slices: null,
} as const;

/**
 * Reads `FILE`, or `HOST:PORT:KEY` with the lite server's public key in base64, each with `@SEQNO` or without.
 * @throws StartError
 */
export function readForkOrigin(spec: string): ForkOrigin {
  const [, place = '', digits] = /^(.+?)(?:@(\d{1,10}))?$/.exec(spec) ?? [];
  const seqno = digits === undefined ? undefined : Number(digits);
  if (place === '' || (seqno !== undefined && (seqno < 1 || seqno > 0x7fff_ffff))) throw unreadable(spec);
  const [, host, portText, keyText] = /^([^/:]+|\[[0-9a-fA-F:]+\]):(\d{1,5}):([\w+/-]{43}=?)$/.exec(place) ?? [];
  if (host === undefined || keyText === undefined) return { network: { file: place }, seqno };
  const [port, key] = [Number(portText), Buffer.from(keyText, 'base64')];
  if (port < 1 || port > 65_535 || key.length !== 32) throw unreadable(spec);
  return { network: { host: host.replace(/^\[|\]$/g, ''), port, key }, seqno };
}

/**
 * Returns the configuration for reading the network; it must be the network of a stored fork. A configuration file names a block from which
 * everything is proved. A lite server alone names its own zerostate, which nothing confirms, so all its answers are trusted.
 * @throws StartError, LiteServerError
 */
export async function forkConfig(
  { network, seqno }: ForkOrigin,
  stored: ForkPoint | undefined,
  { logger }: { readonly logger: Logger },
): Promise<ServiceConfig> {
  if (stored !== undefined && seqno !== undefined && seqno !== stored.block.seqno) {
    throw otherFork(
      `it began at block ${stored.block.seqno}; expected @${stored.block.seqno} or no @SEQNO, got @${seqno}`,
    );
  }
  if ('file' in network) {
    const config = configFromGlobalConfig(readNamedFile('--fork', network.file), 'custom', {});
    refuseOtherNetwork(config.anchors.zeroState, stored);
    return config;
  }
  const { host, port, key: publicKey } = network;
  const zeroState = await readZeroState({ name: 'origin', host, port, publicKey }, stored, logger);
  refuseOtherNetwork(zeroState, stored);
  const liteServers = [{ ...alone, host, port, publicKey }];
  const config = devConfig({ network: 'custom', liteServers, anchors: { zeroState, initBlock: zeroState } });
  return { ...config, trust: 'none' };
}

/** A stored network continues when the lite server is unavailable, with the zerostate that it has. */
async function readZeroState(
  address: LiteServerOptions,
  stored: ForkPoint | undefined,
  logger: Logger,
): Promise<BlockId> {
  const liteServer = createLiteServer(address, { logger, register: new Registry() });
  const timeoutMs = stored === undefined ? INFO_TIMEOUT_MS : QUICK_INFO_TIMEOUT_MS;
  try {
    const { init } = await liteServer.query(getMasterchainInfo, {}, { timeoutMs });
    return zeroStateBlock(init);
  } catch (error) {
    if (stored === undefined) throw error;
    logger.warn(
      { err: error },
      'the forked network does not answer: accounts that were never read are missing until it does',
    );
    return stored.zeroState;
  } finally {
    await liteServer.close();
  }
}

function refuseOtherNetwork(zeroState: BlockId, stored: ForkPoint | undefined): void {
  if (stored === undefined || sameBlock(zeroState, stored.zeroState)) return;
  const [there, given] = [stored.zeroState, zeroState].map(({ rootHash }) => rootHash.toString('hex'));
  throw otherFork(`it is a copy of the network with zerostate ${there}, and the given network has ${given}`);
}

/** A stored fork continues with its own origin. */
export function otherFork(problem: string): StartError {
  return new StartError({
    code: 'other_network',
    message: `--fork: the network in --data does not fit: ${problem}`,
    data: { option: '--fork' },
    retryable: false,
  });
}

function unreadable(spec: string): StartError {
  return new StartError({
    code: 'file_unreadable',
    message: `--fork: expected FILE, FILE@SEQNO, HOST:PORT:KEY or HOST:PORT:KEY@SEQNO, got ${spec}`,
    data: { option: '--fork' },
    retryable: false,
  });
}
