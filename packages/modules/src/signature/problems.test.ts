import { HoldfastError, isHoldfastError } from '@holdfast/core';
import { expect, test } from 'vitest';
import { isModuleError, type ModuleErrorKind, moduleError } from './problems.ts';

// LOOP-38: programs branch on the kind and on `recoverable`.
test.each<{ code: string; reason?: string; kind: ModuleErrorKind; recoverable: boolean }>([
  { code: 'modules.file_failed', reason: 'not_found', kind: 'ModuleNotFound', recoverable: false },
  { code: 'modules.invalid', reason: 'signature_not_found', kind: 'SignatureNotFound', recoverable: false },
  { code: 'modules.invalid', reason: 'tools_not_enabled', kind: 'ToolsNotEnabled', recoverable: false },
  { code: 'modules.failed', reason: 'tool_not_found', kind: 'ToolNotFound', recoverable: false },
  { code: 'modules.failed', reason: 'arguments', kind: 'InvalidArguments', recoverable: false },
  { code: 'modules.failed', reason: 'execution', kind: 'ExecutionFailed', recoverable: true },
  { code: 'modules.failed', reason: 'serialization', kind: 'SerializationError', recoverable: false },
  { code: 'modules.stopped', reason: 'max_iterations', kind: 'MaxIterationsReached', recoverable: false },
  { code: 'modules.output_unparsable', kind: 'OutputUnparsable', recoverable: true },
  { code: 'modules.failed', reason: 'model', kind: 'ModelFailed', recoverable: true },
])('$code has the kind $kind and recoverable $recoverable', ({ code, reason, kind, recoverable }) => {
  const cause = new Error('why');
  const error = moduleError(kind, 'It went wrong.', { data: { more: 1 }, cause });
  expect(isHoldfastError(error) && isModuleError(error)).toBe(true);
  expect(error).toMatchObject({ code, reason, message: 'It went wrong.', cause, data: { kind, recoverable, more: 1 } });
});

test.each([
  ['an error with another code', new HoldfastError('options.invalid', 'No.')],
  ['a kind that every object inherits', new HoldfastError('modules.invalid', 'No.', { data: { kind: 'toString' } })],
  ['an error with such data of another program', new HoldfastError('a.b', 'No.', { data: { kind: 'ModelFailed' } })],
  ['something that only looks like one', { code: 'modules.file_failed', reason: 'not_found', data: {} }],
  ['nothing', undefined],
])('%s is not a module error', (_what, value) => {
  expect(isModuleError(value)).toBe(false);
});
