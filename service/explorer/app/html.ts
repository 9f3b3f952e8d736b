import htm from 'htm';
import { h, type VNode } from 'preact';

/** Makes a node from a template. Every value becomes text or an attribute: markup in a value stays text. */
export const html = htm.bind(h) as (strings: TemplateStringsArray, ...values: unknown[]) => VNode;
