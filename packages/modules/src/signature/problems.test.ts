import { HoldfastError, isHoldfastError } from '@holdfast/core';
import { expect, test } from 'vitest';
import { isModuleError, type ModuleErrorCode, moduleError } from './problems.ts';

// LOOP-38: programs branch on the kind and on `recoverable`.
test.each<{ code: ModuleErrorCode; kind: string; recoverable: boolean }>([
  { code: 'modules.not_found', kind: 'ModuleNotFound', recoverable: false },
  { code: 'modules.signature_not_found', kind: 'SignatureNotFound', recoverable: false },
  { code: 'modules.tools_not_enabled', kind: 'ToolsNotEnabled', recoverable: false },
  { code: 'modules.tool_not_found', kind: 'ToolNotFound', recoverable: false },
  { code: 'modules.invalid_arguments', kind: 'InvalidArguments', recoverable: false },
  { code: 'modules.execution_failed', kind: 'ExecutionFailed', recoverable: true },
  { code: 'modules.serialization', kind: 'SerializationError', recoverable: false },
  { code: 'modules.max_iterations', kind: 'MaxIterationsReached', recoverable: false },
  { code: 'modules.output_unparsable', kind: 'OutputUnparsable', recoverable: true },
  { code: 'modules.model_failed', kind: 'ModelFailed', recoverable: true },
])('$code has the kind $kind and recoverable $recoverable', ({ code, kind, recoverable }) => {
  const cause = new Error('why');
  const error = moduleError(code, 'It went wrong.', { data: { more: 1 }, cause });
  expect(isHoldfastError(error) && isModuleError(error)).toBe(true);
  expect(error).toMatchObject({ code, message: 'It went wrong.', cause, data: { kind, recoverable, more: 1 } });
});

test.each([
  ['an error with another code', new HoldfastError('options.invalid', 'No.')],
  ['a code that every object inherits', new HoldfastError('toString', 'No.')],
  ['something that only looks like one', { code: 'modules.not_found', data: {} }],
  ['nothing', undefined],
])('%s is not a module error', (_what, value) => {
  expect(isModuleError(value)).toBe(false);
});
