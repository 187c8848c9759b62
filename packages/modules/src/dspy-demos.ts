import { isPlainObject, type Json, type JsonObject, jsonSchema } from '@holdfast/core';
import { compileSchema, describeIssues } from '@holdfast/schema';
import type { DspyField } from './dspy-fields.ts';
import { type DspyFindings, ignore, quote } from './dspy-findings.ts';
import type { Demo } from './program.ts';

/**
 * Splits flat demos into inputs and outputs. What the predictor has no field for is left out, which is where DSPy's own notes
 * (`augmented`, `dspy_uuid`, `dspy_split`) go, and so is a `null` where the field takes none: to DSPy that is a field that is missing.
 *
 * Source: DSPy `dspy/predict/predict.py` (`dump_state`) and `dspy/adapters/base.py` (`format_demos`: a demo is shown when it has an input
 * and an output of the predictor).
 */
export function splitDspyDemos(
  demos: readonly Json[],
  fields: readonly DspyField[],
  { path, findings }: { readonly path: string; readonly findings: DspyFindings },
): readonly Demo[] {
  const checks = fields.map((field) => ({ ...field, check: compileSchema(jsonSchema(field.schema)) }));
  const names = new Set(fields.map(({ name }) => name));
  return demos.flatMap((demo, index) => {
    const place = `${path}[${index}]`;
    if (!isPlainObject(demo)) {
      findings.problems.push({
        code: 'dspy.demo_invalid',
        path: place,
        message: 'A demo must be an object of fields.',
      });
      return [];
    }
    for (const key of Object.keys(demo)) if (!names.has(key)) ignore(findings, `${path}[].${key.slice(0, 100)}`);
    const values = { inputs: new Map<string, Json>(), outputs: new Map<string, Json>() };
    for (const { name, side, check } of checks) {
      if (!Object.hasOwn(demo, name)) continue;
      const value = demo[name] as Json;
      const checked = check.validate(value);
      if (checked.ok) values[side].set(name, value);
      else if (value === null) ignore(findings, `${path}[].${name}`);
      else findings.problems.push(wrongValue(`${place}.${name}`, value, describeIssues(checked.issues)));
    }
    if (values.inputs.size === 0 || values.outputs.size === 0) {
      const missing = values.outputs.size === 0 ? 'output' : 'input';
      const message = `The demo has no ${missing} of this predictor, so it is not shown to the model.`;
      findings.warnings.push({ code: 'dspy.demo_not_rendered', path: place, message });
    }
    return [{ inputs: toObject(values.inputs), outputs: toObject(values.outputs) }];
  });
}

function toObject(values: ReadonlyMap<string, Json>): JsonObject {
  return Object.fromEntries(values);
}

function wrongValue(path: string, value: Json, problem: string): DspyFindings['problems'][number] {
  const message = `The demo has ${quote(JSON.stringify(value))}, which the signature does not take: ${problem.slice(0, 500)}`;
  return { code: 'dspy.demo_invalid', path, message };
}
