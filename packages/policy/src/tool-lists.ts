import { allow, definePolicy, deny, HoldfastError, type Policy, type Tool } from '@holdfast/core';
import { checkOptions, checkToolName } from '@holdfast/core/internal';
import { checkReason } from './options.ts';

export interface ToolListOptions {
  /** Goes to the model; default names the tool. */
  readonly reason?: string;
  /** Default `allow-tools` or `deny-tools`; needed when one place has two. */
  readonly id?: string;
}

/**
 * Lets no tool run but the named ones; those that other calls call and those of the prompt itself (`open_sections`) count, too. An
 * empty list lets none run. Keeps no state.
 *
 * @throws HoldfastError `options.invalid`, `tool.name.invalid`, `tool.name.reserved`.
 */
export function allowTools(tools: readonly (Tool | string)[], options: ToolListOptions = {}): Policy<undefined> {
  checkOptions('allowTools', options, { reason: 'any', id: 'any' });
  const { reason, id } = options;
  const allowed = readToolNames(tools);
  checkReason(reason);
  return definePolicy({
    name: 'allow-tools',
    ...(id === undefined ? {} : { id }),
    tools: [...allowed],
    check: ({ tool }) =>
      allowed.has(tool.name) ? allow : deny(reason ?? `\`${tool.name}\` is not among the tools that may run here.`),
  });
}

/**
 * Lets the named tools never run. Keeps no state.
 *
 * @throws HoldfastError `options.invalid`, `tool.name.invalid`, `tool.name.reserved`.
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
    check: ({ tool }) => (denied.has(tool.name) ? deny(reason ?? `\`${tool.name}\` must not run here.`) : allow),
  });
}

/** Of tools, or their names. @throws HoldfastError `options.invalid`, `tool.name.invalid`, `tool.name.reserved`. */
export function readToolNames(tools: readonly (Tool | string)[]): ReadonlySet<string> {
  const names = Array.isArray(tools)
    ? tools.map((tool) => (typeof tool === 'string' ? tool : tool?.name))
    : [undefined];
  if (names.some((name) => typeof name !== 'string')) {
    throw new HoldfastError('options.invalid', 'Tools must be given as a list of tools, or of their names.');
  }
  for (const name of names) checkToolName(name);
  return new Set(names);
}
