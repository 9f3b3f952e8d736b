import { readDurationMs } from './duration.ts';
import type { TonApi } from './manifest.gen.ts';
import { rule, type Rule } from './rule.ts';

type Replay = NonNullable<NonNullable<TonApi['spec']['streaming']>['replay']>;

/** Bounds of `streaming.replay`, as texts of the definition and in milliseconds. */
const bounds = {
  short: { from: '1m', fromMs: 60_000, to: '30m', toMs: 1_800_000 },
  final: { from: '1h', fromMs: 3_600_000, to: '168h', toMs: 604_800_000 },
} as const;

function replayRule(name: keyof typeof bounds): Rule {
  const { from, fromMs, to, toMs } = bounds[name];
  return rule(
    'spec.streaming.replay',
    `duration(self.${name}) >= duration('${from}') && duration(self.${name}) <= duration('${to}')`,
    [name],
    (replay: Replay) => {
      const ms = readDurationMs(replay[name]);
      return [ms < fromMs || ms > toMs, name, `expected a duration from ${from} to ${to}, got ${replay[name]}`];
    },
  );
}

/** Rules of `streaming`. */
export const streamingRules: readonly Rule[] = [replayRule('short'), replayRule('final')];
