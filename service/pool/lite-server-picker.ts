import { permissionOf } from './read-access.ts';
import type { Permission, ReadAccess } from './read-access.ts';
import { reachesDepth } from './depth.ts';
import type { DepthNeed, MethodClass, PositionNeed } from '../liteserver/query-facts.ts';
import type { Member } from './member.ts';
import { selectLiteServer } from './selection.ts';
import type { Candidate } from './selection.ts';
import { coversPositions } from './slices.ts';

/** Requirements of a read on a lite server. */
export type Requirement = {
  readonly methodClass: MethodClass;
  /** Masterchain block that the answer depends on. */
  readonly masterchainSeqno: number | undefined;
  /** Old data that lite servers may have dropped. */
  readonly depth: DepthNeed | undefined;
  /** Positions in the chain; undefined when unknown. */
  readonly places: readonly PositionNeed[] | undefined;
  /** Access of the caller; undefined for the pool itself. */
  readonly access: ReadAccess | undefined;
  /** True when the read may use the slots reserved for urgent work. */
  readonly isUrgent: boolean;
};

/** Chooses lite servers for reads, and remembers the last good ones. */
export type Picker = {
  /** Returns the next one to ask, which may have no room; undefined when none is left. */
  next(wanted: Requirement, tried: ReadonlySet<number>): Candidate | undefined;
  /** Names the lite servers that must not be asked. Two reads with the same text may share their result. */
  forbidden(wanted: Requirement): string;
  /** Records that the lite server gave a good answer. */
  good(methodClass: MethodClass, index: number): void;
};

export type PickerDependencies = {
  readonly members: readonly Member[];
  /** Seqno of the served head; 0 before the first. */
  readonly headSeqno: () => number;
  readonly now: () => number;
  /** 0..1. */
  readonly random: () => number;
};

/**
 * Milliseconds for which the last good server is reused, about one block interval, because its state is warm. Then the choice is random again, so
 * that traffic follows the weights.
 */
const PREFERRED_MS = 1_000;

/**
 * Blocks below the head that every lite server has, with their states: an hour of the slowest network (service/pool/README.md#depth-of-lite-servers).
 * Servers store a day.
 */
const RECENT_BLOCKS = 720;

export function createPicker({ members, headSeqno, now, random }: PickerDependencies): Picker {
  const lastGood = new Map<MethodClass, { readonly index: number; readonly sinceMs: number }>();

  /** Reports whether a lite server without an archive has the data. */
  function isRecent({ depth, places, access }: Requirement): boolean {
    if (access === undefined || access.archive) return true;
    if (places?.every(({ by }) => by === 'newest') === true) return true;
    if (depth?.chain === 'masterchain' && depth.seqno > headSeqno() - RECENT_BLOCKS) return true;
    const latest = members.filter((member) => {
      const { role, tier } = member.use();
      return role === 'latest' && access.liteServerTiers.includes(tier);
    });
    // Without other servers the archive's data cannot be distinguished from the rest.
    if (latest.length === 0) return true;
    return (
      depth !== undefined && latest.some((member) => member.depth()[depth.kind] && reachesDepth(member.depth(), depth))
    );
  }

  return {
    next(wanted, tried) {
      const recent = isRecent(wanted);
      const last = lastGood.get(wanted.methodClass);
      return selectLiteServer(
        members.map((member) =>
          member.candidate(wanted.methodClass, wanted.depth, wanted.isUrgent, permission(member, wanted, recent)),
        ),
        {
          masterchainSeqno: wanted.masterchainSeqno,
          tried,
          lastGood: last !== undefined && now() - last.sinceMs < PREFERRED_MS ? last.index : undefined,
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
      const last = lastGood.get(methodClass);
      if (last?.index !== index || now() - last.sinceMs >= PREFERRED_MS)
        lastGood.set(methodClass, { index, sinceMs: now() });
    },
  };
}

function permission(member: Member, wanted: Requirement, recent: boolean): Permission {
  const { slices } = member.use();
  if (wanted.places !== undefined && !coversPositions(slices, wanted.places, wanted.masterchainSeqno)) return 'no';
  return permissionOf(wanted.access, member.use(), recent);
}
