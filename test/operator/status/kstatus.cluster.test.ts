import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

import { chartsFolder } from '#test/support/charts.ts';
import { kstatusOf, withoutKstatus } from '#test/support/kstatus.ts';

const text = readFileSync(join(chartsFolder, 'tonplane/integrations/argocd-health.yaml'), 'utf8');
const { configs } = parse(text) as { readonly configs: { readonly cm: Readonly<Record<string, string>> } };

/** A resource at generation 2 with these conditions, `Ready=False/Reason`. */
function resource(kind: string, conditions: readonly string[], observedGeneration = 2): object {
  const status = conditions.map((condition) => {
    const [type = '', value = '', reason = ''] = condition.split(/[=/]/);
    return { type, status: value, reason, message: 'x', lastTransitionTime: '2026-11-21T12:00:00Z' };
  });
  return {
    apiVersion: 'tonplane.dev/v1alpha1',
    kind,
    metadata: { name: 'x', namespace: 'ton', generation: 2 },
    ...(conditions.length > 0 && { status: { observedGeneration, conditions: status } }),
  };
}

describe.skipIf(withoutKstatus('health by the rules of kstatus and Argo CD'))('the health of a resource', () => {
  it.each(['TonApi', 'TonApiKey'])('of kind %s is told by its conditions to kstatus and to Argo CD', (kind) => {
    const states: readonly (readonly [readonly string[], string, number?])[] = [
      [['Ready=True/Serving'], 'Current Healthy'],
      [['Ready=True/Serving'], 'InProgress Progressing', 1],
      [['Ready=False/RollingOut', 'Reconciling=True/RollingOut'], 'InProgress Progressing'],
      [['Ready=False/InvalidValue', 'Stalled=True/InvalidValue'], 'Failed Degraded'],
      [['Ready=False/NoReadyPods'], 'InProgress Degraded'],
      [['Ready=False/Disabled'], 'InProgress Suspended'],
      [['Ready=True/Hibernated', 'Hibernated=True/Hibernated'], 'Current Suspended'],
      [['Ready=True/Serving', 'Paused=True/PausedByAnnotation'], 'Current Suspended'],
    ];
    const objects = states.map(([conditions, , observed]) => resource(kind, conditions, observed));
    const script = configs.cm[`resource.customizations.health.tonplane.dev_${kind}`];
    const verdicts = kstatusOf(objects, script);
    expect(verdicts.map(({ kstatus, argo }) => `${kstatus} ${argo}`)).toEqual(states.map(([, expected]) => expected));
  });

  it('is in progress for Argo CD before the operator has looked', () => {
    const [verdict] = kstatusOf(
      [resource('TonApi', [])],
      configs.cm['resource.customizations.health.tonplane.dev_TonApi'],
    );
    expect(verdict?.argo).toBe('Progressing');
  });
});
