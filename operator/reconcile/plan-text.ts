import { child } from '../desired/child.ts';
import { childNames } from '../desired/names.ts';
import type { Release } from '../desired/references.ts';
import type { Change } from '../diff/diff.ts';
import type { FieldChange } from '../diff/compare.ts';
import { startOf } from '../kubernetes/bounded-text.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { annotationOf, type TonApi } from '../resource.ts';

/** Characters shown of a value: whole documents are in ConfigMaps. */
const VALUE_CHARS_MAX = 120;

/** Plan for a person: a paragraph for each object, in order, with the effect on the pods. */
export function planText(changes: readonly Change[]): string {
  if (changes.length === 0) return 'nothing to change\n';
  return `${changes.map(paragraph).join('\n')}\n`;
}

/** Summary of a plan in one line. */
export function planSummary(changes: readonly Change[]): string {
  const count = (action: Change['action']): number => changes.filter((change) => change.action === action).length;
  const restarts = changes.filter((change) => change.action !== 'refuse' && change.restart.restart).length;
  const parts = (['create', 'update', 'delete', 'refuse'] as const).map((action) => `${count(action)} ${action}`);
  return `${parts.join(', ')}; ${restarts === 0 ? 'no pod restarts' : `pods restart in ${restarts} of them`}`;
}

/** The ConfigMap that a plan is put into, where the annotation asks for one. */
export function planObject(tonApi: TonApi, changes: readonly Change[], release: Release): KubernetesObject {
  return child(tonApi, release.version, {
    stage: 'config',
    component: 'config',
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: childNames(tonApi).plan,
    body: { data: { 'plan.txt': planText(changes) } },
  }).object;
}

function paragraph(change: Change): string {
  const { kind, metadata } = change.action === 'delete' ? change.live : change.desired.object;
  const name = `${kind} ${metadata.name}`;
  if (change.action === 'refuse') return `refuse ${name}: ${change.message}`;
  const { restart, why } = change.restart;
  const head = `${change.action} ${name} (${restart ? 'restarts pods' : 'no restart'}: ${why})`;
  return change.action === 'update' ? [head, ...change.fields.map(line)].join('\n') : head;
}

function line({ path, before, after }: FieldChange): string {
  return `  ${path}: ${shown(before)} -> ${shown(after)}`;
}

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > VALUE_CHARS_MAX ? `${startOf(text, VALUE_CHARS_MAX)}… (${text.length} characters)` : text;
}

/** True for a TonApi that asks for a plan in place of changes. */
export function isPlan(tonApi: TonApi): boolean {
  return annotationOf(tonApi, 'plan') === 'true';
}
