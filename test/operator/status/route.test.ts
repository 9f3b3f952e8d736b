import { describe, expect, it } from 'vitest';

import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import { referencing } from '#operator/status/findings.ts';
import type { Observed } from '#operator/status/observed.ts';
import { sample } from '#test/operator/desired/samples.ts';

/** The condition ReferencesResolved for a route to two Gateways that have reported this. */
function reported(...parents: readonly object[]) {
  const route: KubernetesObject = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: 'r', namespace: 'ton' },
    spec: { parentRefs: [{ name: 'public', namespace: 'edge', sectionName: 'https' }, { name: 'inner' }] },
    status: { parents },
  };
  return referencing(sample('full'), { problems: [], unserved: [], live: [route] } as unknown as Observed);
}

const accepted = [{ type: 'Accepted', status: 'True', reason: 'Accepted' }];
const open = { parentRef: { name: 'public', namespace: 'edge', sectionName: 'https' }, conditions: accepted };
const inner = { parentRef: { name: 'inner' }, conditions: accepted };

describe('the Gateways of an HTTPRoute', () => {
  it('are resolved references when all have taken the route', () => {
    expect(reported(open, inner).status).toBe('True');
    expect(reported(open, { ...inner, parentRef: { name: 'inner', namespace: 'ton' } }).status).toBe('True');
  });

  it('are unresolved when one refuses the route', () => {
    const conditions = [{ type: 'Accepted', status: 'False', reason: 'NotAllowedByListeners', message: 'no listener' }];
    expect(reported(open, { ...inner, conditions })).toMatchObject({
      status: 'False',
      reason: 'NotAllowedByListeners',
      message: expect.stringContaining('Gateway inner'),
    });
  });

  it.each([
    ['has not read the route, as if it were not there', [inner]],
    ['has read the route and not accepted it yet', [inner, { ...open, conditions: [] }]],
    ['has the same name and another namespace', [inner, { ...open, parentRef: { name: 'public' } }]],
  ])('are unresolved, with its name, when one %s', (_, parents) => {
    expect(reported(...parents)).toMatchObject({
      status: 'False',
      reason: 'GatewayPending',
      message: 'Gateway public of namespace edge: not there, or its controller has not taken the route yet',
    });
  });

  it('are named together when none has read the route', () => {
    expect(reported().message).toMatch(/^Gateway public of namespace edge, Gateway inner of namespace ton: /);
  });
});
