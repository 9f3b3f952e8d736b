import { describe, expect, it } from 'vitest';

import { OptionsError } from '#operator/errors.ts';
import { parseOptions } from '#operator/options.ts';

describe('the command line of the operator', () => {
  it('needs nothing in a pod', () => {
    const options = parseOptions([], { POD_NAME: 'operator-x', POD_NAMESPACE: 'ton-system' });
    expect(options).toMatchObject({
      command: 'run',
      identity: 'operator-x',
      namespace: 'ton-system',
      namespaces: undefined,
      concurrency: 4,
      rollouts: { concurrencyMax: 1, delayMs: 0, upgradePolicy: 'Rolling' },
      nudgePods: true,
      metricsPort: 8080,
      metricsTlsFolder: undefined,
      metricsAuthorize: false,
      healthPort: 8081,
      tracing: null,
    });
  });

  it('takes every flag', () => {
    const options = parseOptions(
      [
        '--namespaces=a,b,a',
        '--max-concurrent-rollouts=3',
        '--rollout-delay=1m30s',
        '--upgrade-policy=OnChange',
        '--no-pod-nudge',
        '--image=x:1',
        '--image-pull-secrets=registry,other,registry',
        '--platform-ids',
        '--child-metadata={"kinds":[{"kind":"ServiceMonitor","labels":{"release":"prometheus"}}]}',
        '--alert-severities=critical=page,info=none',
        '--blackbox-exporter=blackbox.monitoring:9115',
        '--ignore-apis=keda.sh',
        '--metrics-tls-dir=/tls',
        '--metrics-authorize',
      ],
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector:4318', OTEL_EXPORTER_OTLP_CERTIFICATE: '/ca.crt' },
    );
    expect(options).toMatchObject({
      namespaces: ['a', 'b'],
      rollouts: { concurrencyMax: 3, delayMs: 90_000, upgradePolicy: 'OnChange' },
      nudgePods: false,
      image: 'x:1',
      pullSecrets: ['registry', 'other'],
      platformIds: true,
      childMetadata: { kinds: [{ kind: 'ServiceMonitor', labels: { release: 'prometheus' } }] },
      alertSeverities: { critical: 'page', info: 'none' },
      blackboxExporter: { address: 'blackbox.monitoring:9115', module: 'http_2xx' },
      ignoredApis: ['keda.sh'],
      metricsTlsFolder: '/tls',
      metricsAuthorize: true,
      tracing: { endpoint: 'https://collector:4318', caFile: '/ca.crt' },
    });
  });

  it.each([
    [['plan', '-f', 'x.yaml'], 'x.yaml'],
    [['plan'], undefined],
    [['--plan-only'], undefined],
  ])('plans with %j', (args, file) => {
    expect(parseOptions(args, {})).toMatchObject({ command: 'plan', file });
  });

  it.each([
    [['sing'], 'expected no command, plan or uninstall, got sing'],
    [['--deployment', 'x'], '--deployment: expected only with the command uninstall'],
    [['uninstall', '--file', 'x'], '--file: expected only with the command plan'],
    [['--file', 'x'], '--file: expected only with the command plan'],
    [['--namespaces', 'a,B'], '--namespaces: expected names separated by commas, got B'],
    [['--concurrency', '0'], '--concurrency: expected a number from 1 to 64, got 0'],
    [['--rollout-delay', 'soon'], '--rollout-delay: expected a duration such as 30s or 5m, got soon'],
    [['--upgrade-policy', 'Never'], '--upgrade-policy: expected Rolling or OnChange, got Never'],
    [
      ['--ignore-apis', 'apps'],
      '--ignore-apis: expected gateway.networking.k8s.io, monitoring.coreos.com, keda.sh, got apps',
    ],
    [['--image-pull-secrets', 'a,_'], '--image-pull-secrets: expected names separated by commas, got _'],
    [['--child-metadata', '{'], '--child-metadata: expected JSON'],
    [['--child-metadata', '{"labels":{"a":1}}'], '--child-metadata: labels.a: expected'],
    [['--child-metadata', '{"kinds":[{"kind":"Pod"}]}'], '--child-metadata: kinds[0].kind: expected one of ConfigMap'],
    [['--child-metadata', '{"label":{}}'], '--child-metadata: label: expected no such field'],
    [['--alert-severities', 'page=critical'], '--alert-severities: expected critical, warning, info with a value'],
    [['--alert-severities', 'critical='], '--alert-severities: expected critical, warning, info with a value'],
    [['--blackbox-exporter', 'http://x'], '--blackbox-exporter: expected host:port, got http://x'],
    [['--metrics-authorize'], '--metrics-authorize: expected only with --metrics-tls-dir'],
    [['--colour'], "Unknown option '--colour'"],
  ])('refuses %j in a sentence', (args, message) => {
    expect(() => parseOptions(args, {})).toThrow(message);
    expect(() => parseOptions(args, {})).toThrow(OptionsError);
  });

  it('names one Lease for the same namespaces in any order, and other Leases for other namespaces', () => {
    expect(leaseOf()).toBe('ton-operator');
    expect(leaseOf('--namespaces=b,a')).toBe(leaseOf('--namespaces=a,b,a'));
    expect(new Set([leaseOf(), leaseOf('--namespaces=a'), leaseOf('--namespaces=a,b')]).size).toBe(3);
    expect(leaseOf('--lease-name=other')).toBe('other');
  });

  it('tells how it is used when asked', () => {
    expect(() => parseOptions(['--help'], {})).toThrow('usage: ton-operator');
  });
});

const leaseOf = (...args: readonly string[]) => parseOptions(args, {}).leaseName;
