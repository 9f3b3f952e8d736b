import { describe, expect, it } from 'vitest';

import { classify } from '#service/actions/classify.ts';
import { isVisible, supportedTypes } from '#service/v3/request/action-versions.ts';
import { noExtras, ofAction, viewAction, type ActionView, type ShownAction } from '#service/v3/views/action-views.ts';
import { expectedActions, inOrder } from '#test/support/recorded-actions.ts';
import { readRecordedTrace, recordedTraceFiles, type RecordedTrace } from '#test/support/recorded-traces.ts';
import { skipLoudly } from '#test/support/skips.ts';

type Fields = Readonly<Record<string, unknown>>;

const files = recordedTraceFiles();
const network = { testOnly: false };

function shownOf({ trace, interfaces }: RecordedTrace): readonly ShownAction[] {
  const ofTrace = {
    traceEndLt: trace.endLt,
    traceEndUtime: trace.endUtime,
    traceMcSeqnoEnd: trace.mcSeqnoEnd,
    externalHash: trace.externalHash,
    externalHashNorm: trace.externalHashNorm ?? null,
    finality: 'finalized',
  } as const;
  return classify(trace, interfaces).actions.map((one) => ofAction(one, ofTrace, trace.traceId));
}

function asJson(view: ActionView): Fields {
  return JSON.parse(JSON.stringify(view)) as Fields;
}

const byId = (actions: readonly Fields[]) => new Map(actions.map((one) => [one['action_id'], one]));

describe.skipIf(
  skipLoudly(files.length === 0, {
    what: 'views of recorded actions',
    why: 'mainnet-traces is not among the fixtures',
  }),
)('the actions of recorded traces', () => {
  it.each(files.map((file) => [readRecordedTrace(file)]))('are shown: $name', (recorded) => {
    const views = shownOf(recorded).map((one) => inOrder(asJson(viewAction(one, network, noExtras))));
    expect(byId(views)).toEqual(byId(expectedActions(recorded)));
  });

  it.each(['v1', 'v2', 'v3', 'v4'])('are seen by clients of %s', (version) => {
    const supported = supportedTypes([version]);
    for (const recorded of files.map(readRecordedTrace)) {
      const seen = shownOf(recorded).filter((one) => isVisible(one, supported));
      const wanted = recorded.expected.visible[version]!.toSorted();
      expect([recorded.name, ...seen.map(({ actionId }) => actionId).toSorted()]).toEqual([recorded.name, ...wanted]);
    }
  });
});
