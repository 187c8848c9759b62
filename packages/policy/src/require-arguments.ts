import { allow, definePolicy, deny, HoldfastError, type Json, type Policy, type Tool } from '@holdfast/core';
import { checkOptions, checkToolName } from '@holdfast/core/internal';
import { checkReason } from './options.ts';

export interface RequireArgumentsOptions {
  /** Shown to the model: state what is accepted. Default names the tool. */
  readonly reason?: string;
  /** Default `require-arguments-` with the tool's name; required if there are two for a tool in one place. */
  readonly id?: string;
}

/**
 * Lets a tool run only with arguments for which `accepts` returns `true`. `input` is the tool's own input: validated, with defaults
 * filled in. Any other result denies, including errors and promises. Keeps no state.
 *
 * `tool` is the tool, which gives `input` its type, or its name.
 *
 * @throws HoldfastError `options.invalid`, `tool.invalid`.
 */
export function requireArguments<Input = Json>(
  tool: Tool<Input> | string,
  accepts: (input: Input) => boolean,
  options: RequireArgumentsOptions = {},
): Policy<undefined> {
  checkOptions('requireArguments', options, { reason: 'any', id: 'any' });
  const { reason, id } = options;
  const name = typeof tool === 'string' ? tool : tool?.name;
  if (typeof name !== 'string')
    throw new HoldfastError('options.invalid', '`requireArguments` needs a tool, or its name.');
  checkToolName(name);
  checkReason(reason);
  if (typeof accepts !== 'function') {
    throw new HoldfastError('options.invalid', `\`requireArguments\` needs a predicate function for \`${name}\`.`);
  }
  return definePolicy({
    name: 'require-arguments',
    // Policy ids must not contain `_`.
    id: id ?? `require-arguments-${name.replaceAll('_', '-')}`.slice(0, 64),
    tools: [name],
    check(call) {
      // The tool's schema produced this input, which determines the type.
      return accepts(call.input as Input) === true
        ? allow
        : deny(reason ?? `\`${name}\` must not run with these arguments.`);
    },
  });
}
