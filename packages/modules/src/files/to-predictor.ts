import { isPlainObject, type Model, type Tool } from '@holdfast/core';
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
  /** One of them is the module's, by name. Not asked for where the module has been loaded. */
  readonly signatures?: readonly Signature[];
  /** What a `react` module may call; default none. Other kinds call nothing by themselves: `wrapTools` gives them tools. */
  readonly tools?: readonly Tool[] | ToolCatalog;
  /** Of a `react` module. Integer, default that of `react`. */
  readonly maxIterations?: number | undefined;
}

/**
 * A predictor of what a module file, or an import, says: a `ReactPredictor` where its `predictorType` is `react`.
 *
 * @throws HoldfastError `modules.signature_not_found`, `modules.signature_duplicate`, what is wrong with the module as a diagnostic of
 * `loadModules` (`data.problems` tells all), and for `react` modules what `react` throws.
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
  // Whoever has read the file himself has what it says, not yet what it means.
  const parsing = parseModule(stringifyModule(given));
  if (parsing.type === 'invalid') throw refusal('modules.file_invalid', 'The module cannot be used', parsing.problems);
  const { definition } = parsing;
  const { program, problems } = checkModule(definition, toSignatureMap(signatures));
  if (program !== undefined) return { definition, program };
  const errors = problems.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (first?.code === 'modules.signature_not_found') throw moduleError(first.code, first.message);
  throw refusal(first?.code ?? 'modules.file_invalid', `\`${definition.module_id}\``, errors);
}
