import { describe, expect, it } from 'vitest';

import { classify } from '#service/actions/classify.ts';
import type { ClassifierTrace } from '#service/actions/engine/classifier-input.ts';
import {
  any,
  built,
  call,
  first,
  followedBy,
  lazy,
  maybe,
  neededOpcodes,
  repeat,
} from '#service/actions/engine/pattern.ts';
import { familyOpcodes, matcherNames, matchers } from '#service/actions/families.ts';
import { readRecordedTrace, recordedTraceFiles } from '#test/support/recorded-traces.ts';
import { skipLoudly } from '#test/support/skips.ts';

describe('the opcodes that a match needs', () => {
  it.each([
    ['are those of its root', followedBy(call(1, 2), call(3)), [1, 2]],
    ['are those of a neighbour, if the root may be any block', followedBy(built('jetton_transfer'), call(3)), [3]],
    ['are not those of an optional neighbour', followedBy(any, maybe(call(3))), undefined],
    ['are those of all alternatives', first(call(1), followedBy(any, call(2))), [1, 2]],
    ['are unknown, if an alternative needs none', first(call(1), any), undefined],
    ['are those of the end of a walk', repeat(any, call(4)), [4]],
    ['are those of a pattern that is made late', lazy(() => call(5)), [5]],
    ['are unknown for a pattern without an end', endless(), undefined],
  ])('%s', (_what, pattern, opcodes) => {
    expect(neededOpcodes(pattern)).toEqual(opcodes && new Set(opcodes));
  });
});

function endless(): ReturnType<typeof lazy> {
  return lazy(endless);
}

const files = recordedTraceFiles();

/** Matchers without those of families whose opcodes the trace does not have. */
function concerned({ transactions }: ClassifierTrace) {
  const messages = transactions.flatMap(({ inMessage, outMessages }) => [inMessage, ...outMessages]);
  const seen = new Set(messages.map((message) => message?.opcode ?? null));
  const isSkipped = (name: string): boolean => {
    const opcodes = familyOpcodes.get(name.split('.')[0]!);
    return opcodes !== undefined && ![...opcodes].some((opcode) => seen.has(opcode));
  };
  return matchers.filter((_matcher, at) => !isSkipped(matcherNames[at]!));
}

describe.skipIf(
  skipLoudly(files.length === 0, {
    what: 'families without opcodes in a recorded trace',
    why: 'mainnet-traces is not among the fixtures',
  }),
)('a family whose opcodes a recorded trace does not have', () => {
  it('changes nothing of its actions', () => {
    let skipped = 0;
    for (const { trace, interfaces } of files.map(readRecordedTrace)) {
      const left = concerned(trace);
      skipped += matchers.length - left.length;
      expect(classify(trace, interfaces, left)).toEqual(classify(trace, interfaces));
    }
    expect(skipped).toBeGreaterThan(files.length * 10);
  });
});
