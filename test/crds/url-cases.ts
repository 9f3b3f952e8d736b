import type { Change, RuleCase } from './cases.ts';

const collector =
  (endpoint: string): Change =>
  (spec) =>
    void (spec['observability'] = { tracing: { endpoint } });

const gateway =
  (ipfsGateway: string): Change =>
  (spec) =>
    void Object.assign(spec, { postgres: { secretRef: { name: 'database' } }, tokenMetadata: { ipfsGateway } });

/** Rules of the URLs of a TonApi: an accepted URL, and a refused one. */
export const urlCases: readonly RuleCase[] = [
  ...[
    ['http://collector:65535/otlp', 'http://collector:99999'],
    ['http://[fd00::1]:4318', 'http://:4318'],
    ['http://10.0.0.1:4318', 'http://256.1.1.1'],
    ['http://user:pass@otel.example', 'http://1.2.3.4.5'],
    ['http://1password:80', 'http://collector:0'],
    ['https://collector.example:4318', 'grpc://collector.example:4317'],
  ].map(([accepted = '', refused = '']) => ({
    message:
      'endpoint must be an http or https URL with a host name or an IP address, and a port of 1 to 65535 or none',
    field: 'spec.observability.tracing.endpoint',
    accepted: collector(accepted),
    refused: collector(refused),
  })),
  ...[
    ['https://ipfs.io', 'http://x:99999'],
    ['http://8.8.8.8:8080/gate', 'http://256.1.1.1'],
    ['http://gate4', 'http://1.2.3.4.5'],
  ].map(([accepted = '', refused = '']) => ({
    message: 'ipfsGateway must have a host name or an IP address, and a port of 1 to 65535 or none',
    field: 'spec.tokenMetadata.ipfsGateway',
    accepted: gateway(accepted),
    refused: gateway(refused),
  })),
];
