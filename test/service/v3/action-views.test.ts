import { describe, expect, it } from 'vitest';

import { classify } from '#service/actions/classify.ts';
import { isVisible, supportedTypes } from '#service/v3/action-versions.ts';
import { noExtras, ofAction, viewAction, type ActionView, type ShownAction } from '#service/v3/action-views.ts';
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

/** What a peer leaves out and is filled in here (v3 sheet section 16), by type and field: what stands there instead. */
const putRight: readonly (readonly [type: string, field: string, from: string])[] = [
  ['coffee_create_pool', 'pool_creator_contract', 'destinationSecondary'],
  ['coffee_create_pool_creator', 'provided_asset', 'asset'],
  ['evaa_supply', 'sender_jetton_wallet', 'sourceSecondary'],
  ['stake_withdrawal_request', 'tokens_burnt', 'amount'],
];

/** A recorded action as it is with the defects put right. */
function corrected(recorded: Fields, { columns }: ShownAction): Fields {
  const details = { ...(recorded['details'] as Fields) };
  for (const [type, field, from] of putRight) {
    if (recorded['type'] === type && details[field] === null) details[field] = columns[from] ?? null;
  }
  return { ...recorded, details };
}

/** Sets in one order: of an action its transactions, of a deposit what the vaults gave back. */
function inOrder(action: Fields): Fields {
  const details = action['details'] as Fields;
  const excesses = details['vault_excesses'] as readonly unknown[] | undefined;
  const textOf = (one: unknown): string => JSON.stringify(one, Object.keys(one as Fields).toSorted());
  return {
    ...action,
    transactions: (action['transactions'] as string[]).toSorted(),
    details: { ...details, ...(excesses && { vault_excesses: excesses.map(textOf).toSorted() }) },
  };
}

function asJson(view: ActionView): Fields {
  return JSON.parse(JSON.stringify(view)) as Fields;
}

/** The rule by which a thing that was only asked for gets its id is not known: all else of it is compared. */
const isGhost = ({ trace: { transactions } }: RecordedTrace): boolean =>
  transactions.length === 1 && transactions[0]!.inMessage?.source === null;

describe.skipIf(
  skipLoudly(files.length === 0, {
    what: 'views of recorded actions',
    why: 'mainnet-traces is not among the fixtures',
  }),
)('the actions of recorded traces', () => {
  it.each(files.map((file) => [readRecordedTrace(file)]))('are shown: $name', (recorded) => {
    const shown = new Map(shownOf(recorded).map((one) => [isGhost(recorded) ? one.type : one.actionId, one]));
    const keyOf = (one: Fields): string => String(isGhost(recorded) ? one['type'] : one['action_id']);
    const wanted = recorded.expected.api_actions;
    expect([...shown.keys()].toSorted()).toEqual(wanted.map(keyOf).toSorted());
    for (const one of wanted) {
      const action = shown.get(keyOf(one))!;
      const id = isGhost(recorded) ? { action_id: action.actionId } : {};
      const view = inOrder(asJson(viewAction(action, network, noExtras)));
      expect(view).toEqual(inOrder({ ...corrected(one, action), ...id }));
    }
  });

  it.each(['v1', 'v2', 'v3', 'v4'])('are seen by clients of %s', (version) => {
    const supported = supportedTypes([version]);
    for (const recorded of files.map(readRecordedTrace)) {
      if (isGhost(recorded)) continue;
      const seen = shownOf(recorded).filter((one) => isVisible(one, supported));
      const wanted = recorded.expected.visible[version]!.toSorted();
      expect([recorded.name, ...seen.map(({ actionId }) => actionId).toSorted()]).toEqual([recorded.name, ...wanted]);
    }
  });
});
