import type { TonApi } from './manifest.gen.ts';
import { rule, type Rule } from './rule.ts';

type Spec = TonApi['spec'];

/** Rules of surfaces that read the index through v3, and of a target that needs streams. */
export const surfaceRules: readonly Rule[] = [
  ...(['stream', 'explorer'] as const).map((surface) =>
    rule('spec', `!('${surface}' in self.surfaces) || 'v3' in self.surfaces`, ['surfaces'], ({ surfaces }: Spec) => [
      surfaces.includes(surface) && !surfaces.includes('v3'),
      'surfaces',
      `expected v3 among them, because ${surface} is, got ${JSON.stringify(surfaces)}`,
    ]),
  ),
  rule(
    'spec',
    "!has(self.autoscaling) || !has(self.autoscaling.targetStreamConnections) || 'stream' in self.surfaces",
    ['surfaces', 'autoscaling'],
    ({ autoscaling, surfaces }: Spec) => [
      autoscaling?.targetStreamConnections !== undefined && !surfaces.includes('stream'),
      'autoscaling.targetStreamConnections',
      `expected no target, because surfaces has no stream, got ${autoscaling?.targetStreamConnections}`,
    ],
  ),
];
