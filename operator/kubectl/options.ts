import { parseCommandLine } from '#service/config/command-line.ts';
import { OptionsError, usageError } from '../errors.ts';

const commands = ['status', 'plan', 'keys', 'pods', 'top'] as const;
type Command = (typeof commands)[number];

/** Options of `kubectl ton`. */
export type PluginOptions = {
  readonly command: Command;
  /** Name of a TonApi; undefined: all of the namespace. */
  readonly name: string | undefined;
  /** Undefined: the namespace of the context. */
  readonly namespace: string | undefined;
  readonly allNamespaces: boolean;
  readonly context: string | undefined;
  readonly kubeconfig: string | undefined;
  readonly output: 'table' | 'json';
  /** Manifest of `plan`; `-` is standard input. */
  readonly file: string | undefined;
  /** Deployment of the operator whose flags `plan` uses. Undefined: the plugin finds it by its labels. */
  readonly operator: { readonly namespace: string; readonly name: string } | undefined;
  /** Seconds between the two reads of `top`; 0 reads once. */
  readonly intervalSeconds: number;
};

const flags = {
  namespace: { type: 'string', short: 'n' },
  'all-namespaces': { type: 'boolean', short: 'A' },
  context: { type: 'string' },
  kubeconfig: { type: 'string' },
  output: { type: 'string', short: 'o' },
  filename: { type: 'string', short: 'f' },
  operator: { type: 'string' },
  interval: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

const usage = `usage: kubectl ton status [NAME]     TonApis and their state; with NAME also its conditions
       kubectl ton pods [NAME]       pods, and why they do not run
       kubectl ton top [NAME]        requests, latency, lite servers and index of pods, from their metrics
       kubectl ton keys [NAME]       TonApiKeys; never a key itself
       kubectl ton plan [-f FILE]    what the operator would change for the manifest, or for all TonApis;
                                     changes nothing

NAME is the name of a TonApi. Without it a command shows all of the namespace.

  -n, --namespace NAME       default: that of the context
  -A, --all-namespaces       all namespaces
      --context NAME         context of the kubeconfig, default: its current one
      --kubeconfig FILE      default: KUBECONFIG or ~/.kube/config
  -o, --output FORMAT        table (default) or json; not for plan
  -f, --filename FILE        manifest of a TonApi for plan; - is standard input
      --operator NS/NAME     Deployment of the operator, whose flags plan uses; default: found by its labels
      --interval SECONDS     0 to 300: top counts requests for so long, default 5; 0: since the start of each pod

Exit codes: 0 done; 1 the API server or a pod refused, or no such TonApi; 2 wrong arguments.
`;

const DEFAULT_INTERVAL_SECONDS = 5;

/** Reads the arguments after `kubectl ton`. @throws OptionsError */
export function parsePluginOptions(args: readonly string[]): PluginOptions {
  const { values, positionals } = parseStrictly(args);
  if (values.help === true || args.length === 0) {
    throw new OptionsError({ code: 'help', message: usage, data: {}, retryable: false });
  }
  const [word, name, ...rest] = positionals;
  const command = commands.find((each) => each === word);
  if (command === undefined) throw usageError(`expected one of ${commands.join(', ')}, got ${word ?? 'none'}`);
  if (rest.length > 0) throw usageError(`${command}: expected at most one name, got ${[name, ...rest].join(' ')}`);
  if (command === 'plan' && name !== undefined) throw usageError(`plan: expected -f FILE or nothing, got ${name}`);
  for (const flag of ['filename', 'operator'] as const) {
    if (values[flag] !== undefined && command !== 'plan') throw usageError(`--${flag}: expected only with plan`);
  }
  if (values.interval !== undefined && command !== 'top') throw usageError('--interval: expected only with top');
  if (values.output !== undefined && command === 'plan')
    throw usageError('--output: expected with any command but plan');
  if (values.namespace !== undefined && values['all-namespaces'] === true) {
    throw usageError('--namespace: expected without --all-namespaces');
  }
  if (values['all-namespaces'] === true && command === 'status' && name !== undefined) {
    throw usageError('--all-namespaces: expected without a name');
  }
  return {
    command,
    name: nameOf(command, 'the name of a TonApi', name),
    namespace: nameOf('--namespace', 'the name of a namespace', values.namespace),
    allNamespaces: values['all-namespaces'] === true,
    context: values.context,
    kubeconfig: values.kubeconfig,
    output: outputOf(values.output),
    file: values.filename,
    operator: deploymentOf(values.operator),
    intervalSeconds: intervalOf(values.interval),
  };
}

function parseStrictly(args: readonly string[]) {
  return parseCommandLine({ args: [...args], options: flags, allowPositionals: true, strict: true }, usageError);
}

const dnsName = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

function nameOf(place: string, what: string, text: string | undefined): string | undefined {
  if (text !== undefined && !dnsName.test(text)) throw usageError(`${place}: expected ${what}, got ${text}`);
  return text;
}

function outputOf(text: string | undefined): PluginOptions['output'] {
  const found = (['table', 'json'] as const).find((each) => each === (text ?? 'table'));
  if (found === undefined) throw usageError(`--output: expected table or json, got ${text}`);
  return found;
}

function deploymentOf(text: string | undefined): PluginOptions['operator'] {
  if (text === undefined) return undefined;
  const [namespace = '', name = '', ...rest] = text.split('/');
  if (!dnsName.test(namespace) || !dnsName.test(name) || rest.length > 0) {
    throw usageError(`--operator: expected NAMESPACE/NAME of a Deployment, got ${text}`);
  }
  return { namespace, name };
}

function intervalOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_INTERVAL_SECONDS;
  if (!/^\d{1,3}$/.test(text) || Number(text) > 300) {
    throw usageError(`--interval: expected whole seconds from 0 to 300, got ${text}`);
  }
  return Number(text);
}
