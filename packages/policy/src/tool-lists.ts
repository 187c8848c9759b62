import { allow, definePolicy, deny, HoldfastError, type Policy, type Tool } from '@holdfast/core';
import { checkOptions, checkToolName } from '@holdfast/core/internal';
import { checkReason } from './options.ts';

export interface ToolListOptions {
  /** Shown to the model; default names the tool. */
  readonly reason?: string;
  /** Default `allow-tools` or `deny-tools`; required if there are two in one place. */
  readonly id?: string;
}

/**
 * Allows only the named tools to run, including tools called by other calls and the prompt's own tools (`open_sections`). An empty list
 * allows none. Keeps no state.
 *
 * @throws HoldfastError `options.invalid`, `tool.invalid`.
 */
export function allowTools(tools: readonly (Tool | string)[], options: ToolListOptions = {}): Policy<undefined> {
  checkOptions('allowTools', options, { reason: 'any', id: 'any' });
  const { reason, id } = options;
  const allowed = readToolNames(tools);
  checkReason(reason);
  return definePolicy({
    name: 'allow-tools',
    ...(id === undefined ? {} : { id }),
    mentions: [...allowed],
    check: ({ tool }) => (allowed.has(tool.name) ? allow : deny(reason ?? `\`${tool.name}\` is not an allowed tool.`)),
  });
}

/**
 * Never lets the named tools run. Keeps no state.
 *
 * @throws HoldfastError `options.invalid`, `tool.invalid`.
 */
export function denyTools(tools: readonly (Tool | string)[], options: ToolListOptions = {}): Policy<undefined> {
  checkOptions('denyTools', options, { reason: 'any', id: 'any' });
  const { reason, id } = options;
  const denied = readToolNames(tools);
  if (denied.size === 0) throw new HoldfastError('options.invalid', '`denyTools` must name at least one tool.');
  checkReason(reason);
  return definePolicy({
    name: 'deny-tools',
    ...(id === undefined ? {} : { id }),
    tools: [...denied],
    check: ({ tool }) => deny(reason ?? `\`${tool.name}\` must not run here.`),
  });
}

/** Reads the names of tools. @throws HoldfastError `options.invalid`, `tool.invalid`. */
export function readToolNames(tools: readonly (Tool | string)[]): ReadonlySet<string> {
  const names = Array.isArray(tools)
    ? tools.map((tool) => (typeof tool === 'string' ? tool : tool?.name))
    : [undefined];
  if (names.some((name) => typeof name !== 'string')) {
    throw new HoldfastError('options.invalid', 'Expected a list of tools, or of their names.');
  }
  for (const name of names) checkToolName(name);
  return new Set(names);
}
