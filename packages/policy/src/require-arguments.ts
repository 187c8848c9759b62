import { allow, definePolicy, deny, HoldfastError, type Json, type Policy, type Tool } from '@holdfast/core';
import { checkOptions, checkToolName } from '@holdfast/core/internal';
import { checkReason } from './options.ts';

export interface RequireArgumentsOptions {
  /** Goes to the model: say what is accepted. Default names the tool. */
  readonly reason?: string;
  /** Default `require-arguments-` and the tool's name; needed when one place has two for a tool. */
  readonly id?: string;
}

/**
 * Lets a tool run only with arguments for which `accepts` answers `true`. `input` is what the tool itself gets: validated, with
 * defaults filled in. Anything but `true` denies, throwing and promises too. Keeps no state.
 *
 * `tool` is the tool, which gives `input` its type, or its name.
 *
 * @throws HoldfastError `options.invalid`, `tool.name.invalid`, `tool.name.reserved`.
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
    throw new HoldfastError(
      'options.invalid',
      `What the arguments of \`${name}\` must be is to be a function of them.`,
    );
  }
  return definePolicy({
    name: 'require-arguments',
    // Names of tools may have `_`, those of policies not.
    id: id ?? `require-arguments-${name.replaceAll('_', '-')}`.slice(0, 64),
    tools: [name],
    check(call) {
      if (call.tool.name !== name) return allow;
      // What the tool's own schema made of the arguments, which is what the type says.
      return accepts(call.input as Input) === true
        ? allow
        : deny(reason ?? `\`${name}\` must not run with these arguments.`);
    },
  });
}
