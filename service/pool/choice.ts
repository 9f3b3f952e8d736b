import { permissionOf } from './access.ts';
import type { Permission, ReadAccess } from './access.ts';
import { reachesDepth } from './depth.ts';
import type { DepthNeed } from './depth.ts';
import type { Member } from './member.ts';
import type { MethodClass } from './method-class.ts';
import { selectLiteServer } from './selection.ts';
import type { Candidate } from './selection.ts';
import { hasPlaces } from './slices.ts';
import type { PlaceNeed } from './slices.ts';

/** What a lite server for a read must be good for. */
export type Wanted = {
  readonly methodClass: MethodClass;
  /** The masterchain block that the answer depends on. */
  readonly masterchainSeqno: number | undefined;
  /** What lite servers may have dropped already. */
  readonly depth: DepthNeed | undefined;
  /** Where in the chain it is; undefined when that is not known. */
  readonly places: readonly PlaceNeed[] | undefined;
  /** Of the caller; undefined for the pool itself. */
  readonly access: ReadAccess | undefined;
  /** It may use the places that are kept free for what must not wait. */
  readonly isUrgent: boolean;
};

/** Chooses lite servers for reads, with what they last were good for in mind. */
export type Choice = {
  /** The next one to ask, which may have no room; undefined when none is left. */
  next(wanted: Wanted, tried: ReadonlySet<number>): Candidate | undefined;
  /** Names the lite servers that must not be asked: two reads with the same text may share what comes of them. */
  forbidden(wanted: Wanted): string;
  /** It gave a good answer. */
  good(methodClass: MethodClass, index: number): void;
};

export type ChoiceDependencies = {
  readonly members: readonly Member[];
  /** Seqno of the served head; 0 before the first. */
  readonly headSeqno: () => number;
  readonly now: () => number;
  /** 0..1. */
  readonly random: () => number;
};

/**
 * The last good one is kept so long, about a block's time: what is asked of one block is asked where its state is warm. Then it is drawn
 * anew, so that in time each has the share of its weight.
 */
const KEPT_MS = 1_000;

/** So near to the head every lite server has blocks and states: an hour of the slowest network, of the day that they are kept (lite server sheet 7.3). */
const RECENT_BLOCKS = 720;

export function createChoice({ members, headSeqno, now, random }: ChoiceDependencies): Choice {
  const kept = new Map<MethodClass, { readonly index: number; readonly sinceMs: number }>();

  /** True when a lite server without an archive has what is asked. */
  function isRecent({ depth, places, access }: Wanted): boolean {
    if (access === undefined || access.archive) return true;
    if (places?.every(({ by }) => by === 'newest') === true) return true;
    if (depth?.chain === 'masterchain' && depth.seqno > headSeqno() - RECENT_BLOCKS) return true;
    const latest = members.filter((member) => {
      const { role, tier } = member.use();
      return role === 'latest' && access.liteServerTiers.includes(tier);
    });
    // Nobody can tell the archive's part from the rest where there is nothing else.
    if (latest.length === 0) return true;
    return (
      depth !== undefined && latest.some((member) => member.depth()[depth.kind] && reachesDepth(member.depth(), depth))
    );
  }

  return {
    next(wanted, tried) {
      const recent = isRecent(wanted);
      const last = kept.get(wanted.methodClass);
      return selectLiteServer(
        members.map((member) =>
          member.candidate(wanted.methodClass, wanted.depth, wanted.isUrgent, permission(member, wanted, recent)),
        ),
        {
          masterchainSeqno: wanted.masterchainSeqno,
          tried,
          lastGood: last !== undefined && now() - last.sinceMs < KEPT_MS ? last.index : undefined,
          random,
        },
      );
    },
    forbidden(wanted) {
      const recent = isRecent(wanted);
      return members
        .filter((member) => permission(member, wanted, recent) === 'no')
        .map(({ index }) => index)
        .join();
    },
    good(methodClass, index) {
      const last = kept.get(methodClass);
      if (last?.index !== index || now() - last.sinceMs >= KEPT_MS) kept.set(methodClass, { index, sinceMs: now() });
    },
  };
}

function permission(member: Member, wanted: Wanted, recent: boolean): Permission {
  const { slices } = member.use();
  if (wanted.places !== undefined && !hasPlaces(slices, wanted.places, wanted.masterchainSeqno)) return 'no';
  return permissionOf(wanted.access, member.use(), recent);
}
