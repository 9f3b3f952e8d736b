import type { PostHandler } from '../http/post-route.ts';
import type { CallerConditions } from '../http/conditions.ts';
import type { InternalPage, InternalPost } from '../http/internal-server.ts';
import type { Demo } from '../devchain/demo/demo.ts';
import type { StartupAccount } from '../devchain/startup-accounts.ts';
import type { StatusFacts } from './status-line.ts';

/** The network of the `dev` role, running in this process: a recording that is played, or one that makes its own blocks. */
export type DevNetwork = {
  /** What the first line of the welcome says: `A recorded TON network, played all at once.` */
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
  /** What the network was filled with: raw addresses by name. */
  readonly demo: Demo;
  /** Folder for what the API keeps of this network over restarts; undefined when the network does not last itself. */
  readonly stateDir: string | undefined;
  /** The ecosystem's configuration file of the network. */
  globalConfig(): object;
  /** Newest masterchain block that its lite server has. */
  headSeqno(): number;
  /** Grows with each account that came over from another network; an answer during which it grew may lack one. */
  readonly accountsBrought?: () => number;
  /** What the status line tells of it. */
  facts(): Pick<StatusFacts, 'lastSeqno' | 'paceSeconds' | 'liteServers' | 'aheadSeconds'>;
  /** What `/status` shows of it, under `devchain`. */
  status(): Readonly<Record<string, unknown>>;
  /** Operations of the public listener that only this network has, by path; each is answered when the API serves what it did. */
  readonly posts: ReadonlyMap<string, PostHandler>;
  /** The same of the internal listener. */
  readonly internalPosts: ReadonlyMap<string, InternalPost>;
  /** Seconds that the network's clock is ahead of this machine's. */
  aheadSeconds(): number;
  /** Nanotons of an account at the network's head. */
  balanceOf(place: { readonly workchain: number; readonly id: Buffer }): bigint;
  /** Pages of the internal listener that only this network has. @param version of the release */
  internalPages(version: string): ReadonlyMap<string, () => InternalPage>;
  /** How callers of the API are treated, for tests of clients. */
  readonly conditions?: () => CallerConditions;
  close(): Promise<void>;
};
