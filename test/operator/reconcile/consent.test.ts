import { describe, expect, it } from 'vitest';

import type { KubernetesClient } from '#operator/kubernetes/client.ts';
import { fromStatus } from '#operator/kubernetes/errors.ts';
import { createConsent } from '#operator/reconcile/consent.ts';
import type { TonApiKey } from '#operator/resource.ts';
import { sample, sampleKey } from '#test/operator/desired/samples.ts';
import { createVirtualClock } from '#test/support/virtual-clock.ts';

const bounds = { signal: new AbortController().signal };
const selecting = sample('smallest', {
  keys: { allowedNamespaces: 'Selector', selector: { matchLabels: { team: 'wallet' } } },
} as never);

function keyIn(namespace: string | undefined): TonApiKey {
  const key = sampleKey();
  return { ...key, metadata: { ...key.metadata, namespace } } as TonApiKey;
}

/** A cluster whose namespaces have these labels; `asked` has the names that were read. */
function cluster(labels: Readonly<Record<string, Readonly<Record<string, string>> | Error>>) {
  const asked: string[] = [];
  const clock = createVirtualClock();
  const client = {
    async getMetadata(_of: unknown, { name }: { name: string }) {
      asked.push(name);
      const found = labels[name];
      if (found instanceof Error) throw found;
      return found && { metadata: { name, labels: found } };
    },
  } as unknown as KubernetesClient;
  const consent = createConsent({ client, clock });
  return { ask: (namespace: string, tonApi = selecting) => consent(tonApi, keyIn(namespace), bounds), asked, clock };
}

describe('the consent of a TonApi to a key', () => {
  it('a TonApi that selects by labels accepts keys of namespaces with the labels', async () => {
    const { ask } = cluster({ yes: { team: 'wallet' }, no: { team: 'other' } });
    expect(await Promise.all(['yes', 'no', 'absent'].map((name) => ask(name)))).toEqual([true, false, false]);
  });

  it('labels are read once a minute, and only where they decide', async () => {
    const { ask, asked, clock } = cluster({ yes: { team: 'wallet' } });
    await ask(selecting.metadata.namespace ?? '');
    await ask('yes', sample('smallest'));
    expect(asked).toEqual([]);
    await ask('yes');
    await ask('yes');
    expect(asked).toEqual(['yes']);
    await clock.advance(60_000);
    await ask('yes');
    expect(asked).toEqual(['yes', 'yes']);
  });

  it('labels that may not be read allow nothing, and another error is passed on', async () => {
    const { ask } = cluster({
      closed: fromStatus('GET', 403, { message: 'forbidden' }, undefined),
      broken: fromStatus('GET', 500, { message: 'etcd is away' }, undefined),
    });
    expect(await ask('closed')).toBe(false);
    await expect(ask('broken')).rejects.toMatchObject({ code: 'server' });
  });
});
