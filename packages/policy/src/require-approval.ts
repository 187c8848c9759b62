import {
  allow,
  ask,
  definePolicy,
  HoldfastError,
  type InputOfTool,
  type Policy,
  type PreparedCall,
  type Tool,
} from '@holdfast/core';
import { checkOptions } from '@holdfast/core/internal';
import { checkReason } from './options.ts';
import { readToolNames } from './tool-lists.ts';

export interface RequireApprovalOptions<Tools extends readonly (Tool | string)[] = readonly string[]> {
  /** The tools that need approval, or their names. A tool determines the input type of `when`. */
  readonly tools: Tools;
  /** Selects the calls that need approval, by their input or by `call.facts`; default all. Any result but `false` asks, throwing denies. */
  readonly when?: (input: InputOfTool<Tools[number]>, call: PreparedCall) => boolean;
  /** Shown to the person; default names the tool. */
  readonly reason?: string;
  /** Default `require-approval`; required if there are two in one place. */
  readonly id?: string;
}

/**
 * Requires approval of chosen tools, or of chosen inputs. Keeps no state.
 *
 * @throws HoldfastError `options.invalid`, `tool.invalid`.
 */
export function requireApproval<const Tools extends readonly (Tool | string)[]>(
  options: RequireApprovalOptions<Tools>,
): Policy<undefined> {
  checkOptions('requireApproval', options, { tools: 'any', when: 'any', reason: 'any', id: 'any' });
  const { tools, when, reason, id } = options;
  const names = readToolNames(tools);
  if (names.size === 0) throw new HoldfastError('options.invalid', '`tools` must list at least one tool.');
  if (when !== undefined && typeof when !== 'function') {
    throw new HoldfastError('options.invalid', '`when` must be a function of the input.');
  }
  checkReason(reason);
  return definePolicy({
    name: 'require-approval',
    ...(id === undefined ? {} : { id }),
    tools: [...names],
    check(call) {
      const { tool, input } = call;
      // The tool's schema produced this input, which determines the type. Compared with `false`, so that a promise or a missing return
      // asks.
      if (when !== undefined && when(input as InputOfTool<Tools[number]>, call) === false) return allow;
      return ask(reason ?? `\`${tool.name}\` needs approval.`);
    },
  });
}
