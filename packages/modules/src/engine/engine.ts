import { type Clock, HoldfastError, type JsonObject, type Model, systemClock, type Tool } from '@holdfast/core';
import { describeCode, nearestNames, toPrintable, toReason } from '@holdfast/core/internal';
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

/** Options of the engine. Those for tool calls (session, policies, approvals, limits) apply to every run that does not override them. */
export interface ModuleEngineOptions extends ToolCatalogOptions {
  readonly source: ModuleSource;
  /** The signatures that modules may name. */
  readonly signatures: readonly Signature[];
  readonly model: Model;
  /** The tools offered to modules with `tool_enabled`. */
  readonly tools?: readonly Tool[];
  /** Maximum rounds of a run with tools. Default: that of `wrapTools` or `react`. */
  readonly maxIterations?: number;
  /** Throw if any module, or the manifest, fails to load. Default false: skip broken modules. */
  readonly strict?: boolean;
}

/** Options of one run; they override those of the engine. */
export interface ModuleRunOptions<Input = unknown, Output = unknown> extends LoopRunOptions {
  /** Types the input and output. The run rejects with `modules.invalid` if the module has another signature. */
  readonly signature?: Signature<Input, Output>;
  /**
   * As in `wrapTools`, for modules other than `react`, which show results in the conversation. Pass the same key to `resume`. Otherwise the
   * run rejects with `options.invalid`.
   */
  readonly toolResultKey?: string;
}

/**
 * Modules, called by id, any number of runs in parallel. A run uses one version of its module throughout; a reload affects only later runs.
 *
 * Every run rejects with HoldfastError `modules.file_failed`, `modules.invalid` (its signature is not registered),
 * `modules.invalid`.
 */
export interface ModuleEngine {
  /** The ids of the modules in force, in manifest order. */
  readonly moduleIds: readonly string[];
  /**
   * The current problems: of the manifest, then of the modules in its order. A module with a problem may be in force in its last good
   * version.
   */
  readonly diagnostics: readonly ModuleDiagnostic[];
  readonly catalog: ToolCatalog;
  /** The version in force. */
  getModule(moduleId: string): LoadedModule | undefined;
  /** The modules with this tag in the manifest, in its order. */
  findByTag(tag: string): readonly LoadedModule[];
  /** Offers another tool from the next round on, including in active runs. @throws HoldfastError as `ToolCatalog.register`. */
  registerTool(tool: Tool): void;
  /**
   * Asks a module once; a `react` module runs all rounds it needs. Rejects as `Predictor.invoke`, and with `modules.stopped` if time or tokens run out.
   */
  invoke<Output = JsonObject, Input = unknown>(
    moduleId: string,
    input: NoInfer<Input>,
    options?: ModuleRunOptions<Input, Output>,
  ): Promise<Prediction<Output>>;
  /** Asks a module until it calls no more tools. Also rejects with `modules.invalid`; all other failures are in the result. */
  invokeWithTools<Output = JsonObject, Input = unknown>(
    moduleId: string,
    input: NoInfer<Input>,
    options?: ModuleRunOptions<Input, Output>,
  ): Promise<ToolLoopResult<Output>>;
  /** Resumes a suspended run from its `state`, with the version of the module now in force. */
  resume<Output = JsonObject, Input = unknown>(
    moduleId: string,
    state: JsonObject,
    options?: ModuleRunOptions<Input, Output>,
  ): Promise<ToolLoopResult<Output>>;
  /** Reloads everything. Resolves with the events of all modules once the result is in force. */
  reloadAll(): Promise<readonly ModuleEvent[]>;
  /** Reloads one module and its manifest entry. Rejects with `modules.file_failed` if there is neither. */
  reloadModule(moduleId: string): Promise<readonly ModuleEvent[]>;
  /**
   * Reloads files 50 ms after they change. Resolves once all changes since the engine was created are in force. A watched folder keeps the
   * process alive until the watch is closed. Rejects with HoldfastError `modules.file_failed`, and the
   * errors of the source's `watch`.
   */
  watch(): Promise<ModuleWatch>;
}

/**
 * Loads the modules listed in the source's manifest. A broken module becomes a diagnostic.
 *
 * Rejects with HoldfastError `modules.file_failed` (with `strict`; all problems are in `data.diagnostics`), `modules.invalid`,
 * `options.invalid`, and the errors of `createToolCatalog`.
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
        'modules.file_failed',
        `\`${this.#parts.source.name}\` is already being watched. Use that watch or close it first.`,
        { data: { reason: 'watch_started' } },
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
      'modules.invalid',
      `\`${moduleId}\` has the signature \`${module.signature.name}\`, not the given \`${signature.name}\`.`,
      { data: { reason: 'signature_mismatch', moduleId, signature: module.signature.name } },
    );
  }

  #findWithTools(moduleId: string, signature: Signature | undefined): LoadedModule {
    const module = this.#find(moduleId, signature);
    if (module.definition.tool_enabled) return module;
    throw moduleError(
      'ToolsNotEnabled',
      `\`${moduleId}\` is not enabled for tools. Set \`tool_enabled\` in \`${module.path}\`, or use \`invoke\`.`,
      { data: { moduleId } },
    );
  }

  #notFound(moduleId: string): ModuleError {
    const { modules, ofManifest, ofModules } = this.#parts.reloads.shelf;
    const shown = toPrintable(String(moduleId).slice(0, 128));
    const known = ofModules.get(moduleId)?.filter(({ severity }) => severity === 'error') ?? [];
    const unsigned = known.find(({ reason }) => reason === 'signature_not_found');
    if (unsigned !== undefined)
      return moduleError('SignatureNotFound', unsigned.message, { data: { moduleId: shown } });
    const [first] = known;
    if (first !== undefined) {
      return moduleError('ModuleNotFound', `Cannot load \`${shown}\`: ${withPath(first)}`, {
        data: { moduleId: shown, problems: known.map(describeCode) },
      });
    }
    // Without a manifest the id is not the problem; the folder may be wrong.
    const unlisted = ofManifest.find(({ reason, severity }) => severity === 'error' || reason === 'manifest_missing');
    if (unlisted !== undefined && modules.size === 0) {
      return moduleError('ModuleNotFound', `Unknown module \`${shown}\`: ${withPath(unlisted)}`, {
        data: { moduleId: shown, problems: [describeCode(unlisted)] },
      });
    }
    const nearest = nearestNames(shown, modules.keys());
    const hint =
      nearest.length > 0
        ? ` Did you mean ${nearest.map((name) => `\`${name}\``).join(', ')}?`
        : ` The manifest must list it. ${modules.size === 0 ? 'No listed module could be loaded' : '`moduleIds` has the listed modules'}.`;
    return moduleError('ModuleNotFound', `Unknown module \`${shown}\`.${hint}`, {
      data: { moduleId: shown, nearest },
    });
  }
}

/** True if the manifest names the module, loaded or not. */
function isListed({ modules, ofModules }: ModuleShelf, moduleId: string): boolean {
  return modules.has(moduleId) || ofModules.has(moduleId);
}

/** The message with the file name, unless the message already contains it. */
function withPath({ path, message }: ModuleDiagnostic): string {
  return message.includes(`\`${path}\``) ? message : `\`${path}\`: ${message}`;
}

/** @throws HoldfastError `modules.file_failed`. */
function checkLoaded({ name }: ModuleSource, diagnostics: readonly ModuleDiagnostic[]): void {
  // A wrong folder has no manifest.
  const errors = diagnostics.filter(({ severity, reason }) => severity === 'error' || reason === 'manifest_missing');
  const [first] = errors;
  if (first === undefined) return;
  const more = errors.length === 1 ? '' : ` \`data.diagnostics\` has all ${errors.length} problems.`;
  throw new HoldfastError('modules.file_failed', `Cannot load \`${name}\`: ${withPath(first)}${more}`, {
    data: {
      reason: 'load_failed',
      diagnostics: diagnostics.map(({ reason, ...diagnostic }) => ({ ...diagnostic, ...toReason({ reason }) })),
    },
  });
}
