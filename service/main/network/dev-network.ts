import type { PostHandler } from '#service/http/post-route.ts';
import type { CallerConditions } from '#service/http/conditions.ts';
import type { InternalPage, InternalPost } from '#service/http/internal-server.ts';
import type { Demo } from '#service/devchain/demo/demo.ts';
import type { StartupAccount } from '#service/devchain/dev/startup-accounts.ts';
import type { StatusFacts } from '../status/status-line.ts';

/** Network of the `dev` role in this process. It plays a recording, or makes its own blocks. */
export type DevNetwork = {
  /** First line of the welcome: `A recorded TON network, played all at once.` */
  readonly title: string;
  /** Lines of the welcome about what only this network has. */
  readonly notes: readonly string[];
  /** Address of an account that has code, data and a moving balance. */
  readonly sampleAddress: string;
  /** Signed 32 bits. */
  readonly globalId: number;
  readonly liteServer: { readonly host: string; readonly port: number; readonly publicKey: Buffer };
  /** Accounts that have money from the start. */
  readonly accounts: readonly StartupAccount[];
  /** Demo content of the network: raw addresses by name. */
  readonly demo: Demo;
  /** Folder for the API's data about this network over restarts. Undefined when the network does not last itself. */
  readonly stateDir: string | undefined;
  /** The ecosystem's configuration file of the network. */
  globalConfig(): object;
  /** True of a masterchain block of an earlier run that the stored network has lost; absent where no run follows another. */
  readonly hasLost?: (block: { readonly seqno: number; readonly rootHash: Buffer }) => boolean;
  /** Newest masterchain block that its lite server has. */
  headSeqno(): number;
  /** Count of accounts fetched from another network. An answer during which the count grew may lack an account. */
  readonly accountsBrought?: () => number;
  /** Returns the facts for the status line. */
  facts(): Pick<StatusFacts, 'lastSeqno' | 'paceSeconds' | 'liteServers' | 'aheadSeconds'>;
  /** Returns the content of `/status` under `devchain`. */
  status(): Readonly<Record<string, unknown>>;
  /** Operations of the public listener that only this network has, by path. Each is answered when the API serves its result. */
  readonly posts: ReadonlyMap<string, PostHandler>;
  /** The same of the internal listener. */
  readonly internalPosts: ReadonlyMap<string, InternalPost>;
  /** Seconds that the network's clock is ahead of this machine's. */
  aheadSeconds(): number;
  /** Nanotons of an account at the network's head. */
  balanceOf(place: { readonly workchain: number; readonly id: Buffer }): bigint;
  /** Pages of the internal listener that only this network has. @param version of the release */
  internalPages(version: string): ReadonlyMap<string, () => InternalPage>;
  /** Simulated treatment of the API's callers, for tests of clients. */
  readonly conditions?: () => CallerConditions;
  close(): Promise<void>;
};
