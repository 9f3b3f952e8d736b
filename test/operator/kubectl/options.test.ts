import { describe, expect, it } from 'vitest';

import { OptionsError } from '#operator/errors.ts';
import { parsePluginOptions } from '#operator/kubectl/options.ts';

describe('the arguments of kubectl ton', () => {
  it('take the flags of kubectl, before or after the command', () => {
    const expected = { command: 'status', name: 'main', namespace: 'apis', context: 'live', output: 'json' };
    expect(parsePluginOptions(['status', 'main', '-n', 'apis', '--context=live', '-o', 'json'])).toMatchObject(
      expected,
    );
    expect(parsePluginOptions(['-napis', '--context', 'live', '-ojson', 'status', 'main'])).toMatchObject(expected);
    expect(parsePluginOptions(['top', '-A', '--kubeconfig=x', '--interval', '0'])).toMatchObject({
      command: 'top',
      name: undefined,
      namespace: undefined,
      allNamespaces: true,
      kubeconfig: 'x',
      output: 'table',
      intervalSeconds: 0,
    });
    expect(parsePluginOptions(['plan', '-f', '-', '--operator', 'ton/main'])).toMatchObject({
      file: '-',
      operator: { namespace: 'ton', name: 'main' },
    });
  });

  it.each([
    [['statuz'], 'expected one of status, plan, keys, pods, top, got statuz'],
    [['-A'], 'expected one of status, plan, keys, pods, top, got none'],
    [['pods', 'a', 'b'], 'pods: expected at most one name, got a b'],
    [['plan', 'main'], 'plan: expected -f FILE or nothing, got main'],
    [['status', '-f', 'x'], '--filename: expected only with plan'],
    [['keys', '--operator', 'a/b'], '--operator: expected only with plan'],
    [['plan', '--operator', 'a'], '--operator: expected NAMESPACE/NAME of a Deployment, got a'],
    [['pods', '--interval', '5'], '--interval: expected only with top'],
    [['top', '--interval', '301'], '--interval: expected whole seconds from 0 to 300, got 301'],
    [['status', '-o', 'yaml'], '--output: expected table or json, got yaml'],
    [['plan', '-o', 'json'], '--output: expected with any command but plan'],
    [['status', '-A', '-n', 'a'], '--namespace: expected without --all-namespaces'],
    [['status', 'a', '-A'], '--all-namespaces: expected without a name'],
    [['status', 'A_b'], 'status: expected the name of a TonApi, got A_b'],
    [['status', '-n', '../x'], '--namespace: expected the name of a namespace, got ../x'],
    [['status', '--wide'], "Unknown option '--wide'"],
  ])('%j are refused with what was expected', (args, message) => {
    expect(() => parsePluginOptions(args)).toThrow(message);
  });

  it.each([[[]], [['--help']], [['plan', '-h']]])('%j ask for help, which names every command and flag', (args) => {
    let help: unknown;
    try {
      parsePluginOptions(args);
    } catch (error) {
      help = error;
    }
    expect(help).toBeInstanceOf(OptionsError);
    expect((help as OptionsError).code).toBe('help');
    for (const word of ['status', 'plan', 'keys', 'pods', 'top', '--context', '--kubeconfig', '-n,', '-A,', '-o,']) {
      expect((help as OptionsError).message).toContain(word);
    }
  });
});
