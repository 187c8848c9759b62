import {
  type Clock,
  HoldfastError,
  type JsonObject,
  type Model,
  nearestNames,
  systemClock,
  type Tool,
  toPrintable,
} from '@holdfast/core';
import type { ModuleEvent } from '../files/event.ts';
import { type LoadedModule, toSignatureMap } from '../files/load-module.ts';
import { listDiagnostics, type ModuleShelf } from '../files/shelf.ts';
import type { ModuleSource } from '../files/source.ts';
import type { ToolLoopResult } from '../loop/result.ts';
import { createToolCatalog, type ToolCatalog, type ToolCatalogOptions } from '../loop/tool-catalog.ts';
import { checkCount, type LoopRunOptions } from '../loop/tool-loop.ts';
import type { Prediction } from '../predict/predict.ts';
import { type ModuleDiagnostic, type ModuleError, moduleError } from '../signature/problems.ts';
import type { Signature } from '../signature/signature.ts';
import { ModuleRuns } from './runs.ts';
import { ModuleReloads, type ModuleWatch, startWatch } from './watch.ts';

/** What calls of tools take (session, policies, approvals, limits) is in force for every run that does not bring its own. */
export interface ModuleEngineOptions extends ToolCatalogOptions {
  readonly source: ModuleSource;
  /** What modules may be of, found by name. */
  readonly signatures: readonly Signature[];
  readonly model: Model;
  /** What modules with `tool_enabled` are offered. */
  readonly tools?: readonly Tool[];
  /** How often a module may be asked in one run with tools. Default: that of `wrapTools`, and of `react`. */
  readonly maxIterations?: number;
  /** Whether one broken module, or that there is no manifest, is enough to make no engine. Default false: the others are loaded. */
  readonly strict?: boolean;
}

/** Of one run, over those of the engine. */
export interface ModuleRunOptions<Input = unknown, Output = unknown> extends LoopRunOptions {
  /** Types input and output. The run rejects with `modules.signature_mismatch` where the module is of another one. */
  readonly signature?: Signature<Input, Output>;
  /**
   * As `wrapTools` takes it, for a module that is no `react`, whose results are in the conversation. Goes on with the same. The run rejects
   * with `options.invalid` where it cannot be.
   */
  readonly toolResultKey?: string;
}

/**
 * Modules that are called by their ids, any number at once. A run has one version of its module from its beginning to its end; what is
 * reloaded meanwhile is for the runs after it.
 *
 * Every run rejects with HoldfastError `modules.not_found`, `modules.signature_not_found` (its signature is not registered),
 * `modules.signature_mismatch`, `modules.input_invalid`.
 */
export interface ModuleEngine {
  /** Of the modules in force, in the order of the manifest. */
  readonly moduleIds: readonly string[];
  /** What is wrong now: of the manifest, then of modules in its order. A module of which there is one may be in force in its last good version. */
  readonly diagnostics: readonly ModuleDiagnostic[];
  readonly catalog: ToolCatalog;
  /** The version in force. */
  getModule(moduleId: string): LoadedModule | undefined;
  /** Those that the manifest has tagged so, in its order. */
  findByTag(tag: string): readonly LoadedModule[];
  /** Offers one more tool from the next round on, also to what is running. @throws HoldfastError as `ToolCatalog.register`. */
  registerTool(tool: Tool): void;
  /**
   * Asks a module once; one of type `react` takes the rounds it needs. Rejects as `Predictor.invoke` does, and with
   * `modules.deadline` or `modules.budget` where time or tokens end first.
   */
  invoke<Output = JsonObject, Input = unknown>(
    moduleId: string,
    input: NoInfer<Input>,
    options?: ModuleRunOptions<Input, Output>,
  ): Promise<Prediction<Output>>;
  /** Asks a module until it calls no more tools. Rejects also with `modules.tools_not_enabled`; all else that goes wrong is in the result. */
  invokeWithTools<Output = JsonObject, Input = unknown>(
    moduleId: string,
    input: NoInfer<Input>,
    options?: ModuleRunOptions<Input, Output>,
  ): Promise<ToolLoopResult<Output>>;
  /** Goes on with a run that was suspended, by its `state`, and with the version of the module that is in force now. */
  resume<Output = JsonObject, Input = unknown>(
    moduleId: string,
    state: JsonObject,
    options?: ModuleRunOptions<Input, Output>,
  ): Promise<ToolLoopResult<Output>>;
  /** Reads everything again. Resolves, when it is in force, with what has become of each module. */
  reloadAll(): Promise<readonly ModuleEvent[]>;
  /** Reads one module again, and what the manifest says of it. Rejects with `modules.not_found` where neither knows it. */
  reloadModule(moduleId: string): Promise<readonly ModuleEvent[]>;
  /**
   * Reloads what changes from now on, 50 ms after it has; what has changed since the engine read it is in force when this resolves. A
   * folder that is watched keeps the process alive until the watch is closed. Rejects with HoldfastError `modules.watch_started`,
   * `modules.watch_unavailable`, and what the source's `watch` rejects with.
   */
  watch(): Promise<ModuleWatch>;
}

/**
 * Loads the modules that the source's manifest lists. One that is broken is a diagnostic.
 *
 * Rejects with HoldfastError `modules.load_failed` (with `strict`; `data.diagnostics` has all of them), `modules.signature_duplicate`,
 * `options.invalid`, and what `createToolCatalog` throws.
 */
export async function createModuleEngine(options: ModuleEngineOptions): Promise<ModuleEngine> {
  const { source, signatures, model, tools = [], maxIterations, strict = false, ...callOptions } = options;
  if (maxIterations !== undefined) checkCount('maxIterations', maxIterations);
  const catalog = createToolCatalog(tools, callOptions);
  const runs = new ModuleRuns({ catalog, model, maxIterations });
  const reloads = new ModuleReloads({ source, signatures: toSignatureMap(signatures) });
  await reloads.run(() => ({ change: { type: 'all' } }));
  const engine = new Engine({ source, catalog, runs, reloads, clock: callOptions.clock ?? systemClock });
  if (strict) checkLoaded(source, engine.diagnostics);
  return engine;
}

interface EngineParts {
  readonly source: ModuleSource;
  readonly catalog: ToolCatalog;
  readonly runs: ModuleRuns;
  readonly reloads: ModuleReloads;
  readonly clock: Clock;
}

class Engine implements ModuleEngine {
  readonly #parts: EngineParts;
  #isWatched = false;

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  get moduleIds(): readonly string[] {
    return [...this.#modules.keys()];
  }

  get diagnostics(): readonly ModuleDiagnostic[] {
    return listDiagnostics(this.#parts.reloads.shelf);
  }

  get catalog(): ToolCatalog {
    return this.#parts.catalog;
  }

  get #modules(): ReadonlyMap<string, LoadedModule> {
    return this.#parts.reloads.shelf.modules;
  }

  getModule(moduleId: string): LoadedModule | undefined {
    return this.#modules.get(moduleId);
  }

  findByTag(tag: string): readonly LoadedModule[] {
    return [...this.#modules.values()].filter(({ tags }) => tags.includes(tag));
  }

  registerTool(tool: Tool): void {
    this.#parts.catalog.register(tool);
  }

  async invoke<Output, Input>(
    moduleId: string,
    input: Input,
    { signature, toolResultKey: _key, ...options }: ModuleRunOptions<Input, Output> = {},
  ): Promise<Prediction<Output>> {
    const module = this.#find(moduleId, signature);
    return this.#parts.runs.of(module).invoke(input, options) as Promise<Prediction<Output>>;
  }

  async invokeWithTools<Output, Input>(
    moduleId: string,
    input: Input,
    { signature, toolResultKey, ...options }: ModuleRunOptions<Input, Output> = {},
  ): Promise<ToolLoopResult<Output>> {
    const module = this.#findWithTools(moduleId, signature);
    return this.#parts.runs.of(module).loop(toolResultKey).run(input, options) as Promise<ToolLoopResult<Output>>;
  }

  async resume<Output, Input>(
    moduleId: string,
    state: JsonObject,
    { signature, toolResultKey, ...options }: ModuleRunOptions<Input, Output> = {},
  ): Promise<ToolLoopResult<Output>> {
    const module = this.#findWithTools(moduleId, signature);
    return this.#parts.runs.of(module).loop(toolResultKey).resume(state, options) as Promise<ToolLoopResult<Output>>;
  }

  async reloadAll(): Promise<readonly ModuleEvent[]> {
    const { events } = await this.#parts.reloads.run(() => ({ change: { type: 'all' } }));
    return events;
  }

  async reloadModule(moduleId: string): Promise<readonly ModuleEvent[]> {
    const { before, after, events } = await this.#parts.reloads.run(() => ({ change: { type: 'module', moduleId } }));
    if ([before, after].some((shelf) => isListed(shelf, moduleId))) return events;
    throw this.#notFound(moduleId);
  }

  async watch(): Promise<ModuleWatch> {
    if (this.#isWatched) {
      throw new HoldfastError(
        'modules.watch_started',
        `\`${this.#parts.source.name}\` is watched already; use that watch, or close it first.`,
      );
    }
    this.#isWatched = true;
    const onClose = (): void => {
      this.#isWatched = false;
    };
    return startWatch({ ...this.#parts, onClose });
  }

  #find(moduleId: string, signature: Signature | undefined): LoadedModule {
    const module = this.#modules.get(moduleId);
    if (module === undefined) throw this.#notFound(moduleId);
    if (signature === undefined || module.signature === signature) return module;
    throw new HoldfastError(
      'modules.signature_mismatch',
      `\`${moduleId}\` is of the signature \`${module.signature.name}\`, not of the one that was given (\`${signature.name}\`).`,
      { data: { moduleId, signature: module.signature.name } },
    );
  }

  #findWithTools(moduleId: string, signature: Signature | undefined): LoadedModule {
    const module = this.#find(moduleId, signature);
    if (module.definition.tool_enabled) return module;
    throw moduleError(
      'modules.tools_not_enabled',
      `\`${moduleId}\` does not take tools; set \`tool_enabled\` in \`${module.path}\`, or use \`invoke\`.`,
      { data: { moduleId } },
    );
  }

  #notFound(moduleId: string): ModuleError {
    const { modules, ofManifest, ofModules } = this.#parts.reloads.shelf;
    const shown = toPrintable(String(moduleId).slice(0, 128));
    const known = ofModules.get(moduleId)?.filter(({ severity }) => severity === 'error') ?? [];
    const unsigned = known.find(({ code }) => code === 'modules.signature_not_found');
    if (unsigned !== undefined)
      return moduleError('modules.signature_not_found', unsigned.message, { data: { moduleId: shown } });
    const [first] = known;
    if (first !== undefined) {
      return moduleError('modules.not_found', `\`${shown}\` could not be loaded: ${withPath(first)}`, {
        data: { moduleId: shown, problems: known.map(({ code }) => code) },
      });
    }
    // Without a manifest, as in another folder than was meant, no id is wrong.
    const unlisted = ofManifest.find(
      ({ code, severity }) => severity === 'error' || code === 'modules.manifest_missing',
    );
    if (unlisted !== undefined && modules.size === 0) {
      return moduleError('modules.not_found', `There is no module \`${shown}\`: ${withPath(unlisted)}`, {
        data: { moduleId: shown, problems: [unlisted.code] },
      });
    }
    const nearest = nearestNames(shown, modules.keys());
    const hint =
      nearest.length > 0
        ? ` Did you mean ${nearest.map((name) => `\`${name}\``).join(', ')}?`
        : ` The manifest has to list it; ${modules.size === 0 ? 'it lists none that could be loaded' : '`moduleIds` has those that it lists'}.`;
    return moduleError('modules.not_found', `There is no module \`${shown}\`.${hint}`, {
      data: { moduleId: shown, nearest },
    });
  }
}

/** What the manifest names is in force, or it is told why not. */
function isListed({ modules, ofModules }: ModuleShelf, moduleId: string): boolean {
  return modules.has(moduleId) || ofModules.has(moduleId);
}

/** With the name of the file, where the message does not say it itself. */
function withPath({ path, message }: ModuleDiagnostic): string {
  return message.includes(`\`${path}\``) ? message : `\`${path}\`: ${message}`;
}

/** @throws HoldfastError `modules.load_failed`. */
function checkLoaded({ name }: ModuleSource, diagnostics: readonly ModuleDiagnostic[]): void {
  // A folder that is not the one that was meant has no manifest.
  const errors = diagnostics.filter(
    ({ severity, code }) => severity === 'error' || code === 'modules.manifest_missing',
  );
  const [first] = errors;
  if (first === undefined) return;
  const more = errors.length === 1 ? '' : ` \`data.diagnostics\` has ${errors.length} of them.`;
  throw new HoldfastError('modules.load_failed', `\`${name}\` cannot be loaded: ${withPath(first)}${more}`, {
    data: { diagnostics: diagnostics.map((diagnostic) => ({ ...diagnostic })) },
  });
}
