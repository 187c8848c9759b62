import {
  allow,
  ask,
  checkOptions,
  checkToolName,
  definePolicy,
  HoldfastError,
  type Json,
  type Policy,
  type PreparedCall,
} from '@holdfast/core';
import { checkReason } from './options.ts';

export interface RequireApprovalOptions {
  /** Names of the tools that need a person's approval. */
  readonly tools: readonly string[];
  /** Which calls need it, by their input or by `call.facts`; default all. Anything but `false` asks, throwing denies. */
  readonly when?: (input: Json, call: PreparedCall) => boolean;
  /** Shown to the person; default says which tool it is. */
  readonly reason?: string;
  /** Default `require-approval`; needed when one place has two. */
  readonly id?: string;
}

/**
 * Asks a person before chosen tools run, or before they run with chosen inputs. Keeps no state.
 *
 * @throws HoldfastError `options.invalid`, `tool.name.invalid`, `tool.name.reserved`.
 */
export function requireApproval(options: RequireApprovalOptions): Policy<undefined> {
  checkOptions('requireApproval', options, { tools: 'any', when: 'any', reason: 'any', id: 'any' });
  const { tools, when, reason, id } = options;
  if (!Array.isArray(tools) || tools.length === 0 || tools.some((name) => typeof name !== 'string')) {
    throw new HoldfastError('options.invalid', '`tools` must list at least one tool name.');
  }
  for (const name of tools) checkToolName(name);
  if (when !== undefined && typeof when !== 'function') {
    throw new HoldfastError('options.invalid', '`when` must be a function of the input.');
  }
  checkReason(reason);
  const names: ReadonlySet<string> = new Set(tools);
  return definePolicy({
    name: 'require-approval',
    ...(id === undefined ? {} : { id }),
    tools: [...names],
    check(call) {
      const { tool, input } = call;
      if (!names.has(tool.name)) return allow;
      // Compared with `false`, so that a promise or a forgotten return asks.
      if (when !== undefined && when(input, call) === false) return allow;
      return ask(reason ?? `\`${tool.name}\` needs approval.`);
    },
  });
}
