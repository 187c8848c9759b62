import { HoldfastError, isHoldfastError } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { PlanViolation } from '@holdfast/orchestrator';
import * as v from 'valibot';
import type { Equipment } from '../settings/equipment.ts';
import { createColors } from '../terminal/colors.ts';
import { type ExitCode, formatFailure } from '../terminal/failure.ts';
import { describeTerminal, type Host } from '../terminal/host.ts';
import { toPrintable } from '../terminal/text.ts';
import { describeViolations, describeWarnings } from './view.ts';

export interface PlanProblems {
  readonly violations: readonly PlanViolation[];
  readonly warnings?: readonly PlanViolation[];
  /** Suggestions for the user. */
  readonly advice?: readonly string[];
}

const listed: v.GenericSchema<unknown, readonly PlanViolation[]> = v.array(
  v.object({
    code: v.string(),
    reason: v.exactOptional(v.string()),
    path: v.string(),
    node: v.exactOptional(v.union([v.string(), v.number()])),
    message: v.string(),
  }),
);

/** The violations in a `plan.invalid` error; `undefined` for any other error. */
export function readViolations(thrown: unknown): readonly PlanViolation[] | undefined {
  if (!isHoldfastError(thrown) || thrown.code !== 'plan.invalid' || !isPlainObject(thrown.data)) return undefined;
  const parsed = v.safeParse(listed, thrown.data['violations']);
  return parsed.success ? parsed.output : undefined;
}

/** If tools are unknown and there is no tools folder, suggests `--tools`. */
export function adviseOnTools(
  violations: readonly PlanViolation[],
  { toolset }: Pick<Equipment, 'toolset'>,
): readonly string[] {
  const { name, path } = toolset.folder;
  if (path !== undefined || !violations.some(({ code }) => code === 'plan.tool.unknown')) return [];
  return ['', `Tools folder \`${toPrintable(name)}\` does not exist; use \`--tools DIR\` for another one.`];
}

/** Prints violations and warnings of a plan to stderr. */
export function reportViolations({ violations, warnings = [], advice = [] }: PlanProblems, host: Host): ExitCode {
  if (violations.length + warnings.length === 0) return 1;
  const { color, columns } = describeTerminal(host.stderr, host.environment);
  const style = { colors: createColors(color), columns };
  const lines = [...describeViolations(violations, style), ...describeWarnings(warnings, style), ...advice];
  for (const line of lines) host.stderr.write(`${line}\n`);
  return 1;
}

/** Prints to stderr why there is no plan. */
export function reportDeclined(error: string, host: Host): ExitCode {
  const { color } = describeTerminal(host.stderr, host.environment);
  const thrown = new HoldfastError('plan.declined', `No plan: ${error}`);
  host.stderr.write(formatFailure(thrown, { colors: createColors(color), debug: false }));
  return 1;
}
