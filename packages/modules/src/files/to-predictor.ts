import type { Model, Tool } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { ToolCatalog } from '../loop/tool-catalog.ts';
import { createPredictor, type Predictor } from '../predict/predict.ts';
import { type ReactPredictor, react } from '../react/react.ts';
import { moduleError, refusal } from '../signature/problems.ts';
import type { Program } from '../signature/program.ts';
import type { Signature } from '../signature/signature.ts';
import { checkModule } from './check.ts';
import type { ModuleDefinition } from './definition.ts';
import { type LoadedModule, toSignatureMap } from './load-module.ts';
import { parseModule, stringifyModule } from './module-file.ts';

export interface ToPredictorOptions {
  readonly model: Model;
  /** Must include the module's signature. Not needed for a loaded module. */
  readonly signatures?: readonly Signature[];
  /** The tools of a `react` module; default none. Other modules call tools through `wrapTools`. */
  readonly tools?: readonly Tool[] | ToolCatalog;
  /** For `react` modules. Integer; default as in `react`. */
  readonly maxIterations?: number | undefined;
}

/**
 * Creates a predictor from a module file or an import: a `ReactPredictor` if its `predictorType` is `react`.
 *
 * @throws HoldfastError `modules.invalid`, the first problem of the module as in `loadModules`
 * (all are in `data.problems`), and the errors of `react`.
 */
export function toPredictor(
  module: LoadedModule | ModuleDefinition,
  { model, signatures = [], tools = [], maxIterations }: ToPredictorOptions,
): Predictor | ReactPredictor {
  const { definition, program } = isLoaded(module) ? module : check(module, signatures);
  if (definition.predictor_type !== 'react') return createPredictor(program, model);
  const { instruction, demos, descriptions, extract, tool_protocol: protocol, lists_tools: listsTools } = definition;
  return react(program.signature, {
    model,
    tools,
    demos,
    instruction,
    descriptions,
    extract,
    protocol,
    listsTools,
    maxIterations,
  });
}

function isLoaded(module: LoadedModule | ModuleDefinition): module is LoadedModule {
  return isPlainObject(module) && 'program' in module;
}

function check(
  given: ModuleDefinition,
  signatures: readonly Signature[],
): { readonly definition: ModuleDefinition; readonly program: Program } {
  // The definition may come from an unchecked file.
  const parsing = parseModule(stringifyModule(given));
  if (parsing.type === 'invalid') throw refusal('file', 'The module is invalid', parsing.problems);
  const { definition } = parsing;
  const { program, problems } = checkModule(definition, toSignatureMap(signatures));
  if (program !== undefined) return { definition, program };
  const errors = problems.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (first?.reason === 'signature_not_found') throw moduleError('SignatureNotFound', first.message);
  throw refusal(first?.reason ?? 'file', `\`${definition.module_id}\``, errors);
}
