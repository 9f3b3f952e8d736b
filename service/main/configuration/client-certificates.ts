import type { ClientCertificateSource } from '#service/config/secrets.ts';
import { clientCertificateProblem, type ClientCertificate } from '#service/tls/client-certificate.ts';
import { StartError, type StartErrorCode } from '../errors.ts';
import { readNamedFile } from './named-files.ts';

/** Paths of the two files of a client certificate. */
export type ClientCertificateFiles = { readonly certificate: string; readonly key: string };

/** Server that sees a client certificate, as its options are named. */
export type CertificateReader = 'redis' | 'postgres';

/** Returns the options that name the two files. */
function clientCertificateOptions(server: CertificateReader): ClientCertificateFiles {
  return { certificate: `--${server}-client-certificate-file`, key: `--${server}-client-key-file` };
}

type Values = {
  readonly [option in `${CertificateReader}-client-${'certificate' | 'key'}-file`]?: string | undefined;
};

/**
 * Returns the files that options name; undefined for none. A certificate is useless without its key, and the reverse.
 *
 * @throws the error that `refuse` makes of its message, for one option without the other
 */
export function clientCertificateFiles<Server extends CertificateReader>(
  server: Server,
  values: Pick<Values, `${Server}-client-certificate-file` | `${Server}-client-key-file`>,
  refuse: (message: string) => Error,
): ClientCertificateFiles | undefined {
  const given: Values = values;
  const certificate = given[`${server}-client-certificate-file`];
  const key = given[`${server}-client-key-file`];
  if (certificate !== undefined && key !== undefined) return { certificate, key };
  if (certificate === key) return undefined;
  const options = clientCertificateOptions(server);
  throw refuse(`${options.certificate}, ${options.key}: expected both, or neither`);
}

const fields = {
  redis: 'spec.rateLimits.redis.clientCertificate',
  postgres: 'spec.postgres.clientCertificate',
} as const;

/**
 * The client certificate for a server: of the named files, else of the Secret that the manifest names in its own file.
 *
 * @throws StartError for a field without both of its parts, and for wrong parts. No error repeats a part.
 */
export function clientCertificateOf(
  server: CertificateReader,
  files: ClientCertificateFiles | undefined,
  source: ClientCertificateSource | undefined,
): ClientCertificate | undefined {
  const field = fields[server];
  const options = clientCertificateOptions(server);
  if (files !== undefined) {
    const read = (part: keyof ClientCertificateFiles): string => readNamedFile(options[part], files[part]);
    return checked({ certificate: read('certificate'), key: read('key') }, (part) => `${field} (${options[part]})`);
  }
  if (source === undefined) return undefined;
  const { certificate, key } = source;
  if (certificate === undefined || key === undefined) {
    const named = `${options.certificate} and ${options.key}`;
    const found =
      certificate !== undefined ? 'no private key' : key !== undefined ? 'no certificate' : 'neither of the two parts';
    const message = `${field}: expected ${named}, or ${source.source} in the manifest's file, got ${found}`;
    throw refusal('client_certificate_missing', field, message);
  }
  return checked({ certificate, key }, (part) => `${field} (${part === 'key' ? 'privateKey' : part})`);
}

function checked(given: ClientCertificate, where: (part: keyof ClientCertificate) => string): ClientCertificate {
  const found = clientCertificateProblem(given);
  if (found === undefined) return given;
  const place = where(found.part);
  throw refusal('client_certificate_invalid', place, `${place}: ${found.problem}`);
}

function refusal(code: StartErrorCode, option: string, message: string): StartError {
  return new StartError({ code, message, data: { option }, retryable: false });
}
