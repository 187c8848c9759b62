/** A module file. Its instruction is its version, which `versionModel` answers with. */
export function moduleText(moduleId: string, version: string | number, more: object = {}): string {
  return JSON.stringify({
    module_id: moduleId,
    predictor_type: 'predict',
    signature_name: 'question',
    instruction: `Version ${version}.`,
    demos: [],
    tool_enabled: false,
    metadata: { version: '1.0.0' },
    ...more,
  });
}

export interface TestEntry {
  /** Default: the id, and `.json`. */
  readonly path?: string;
  readonly hash?: string | null;
  readonly tags?: readonly string[];
}

export function manifestText(modules: readonly string[] | Readonly<Record<string, TestEntry>>): string {
  const entries: readonly (readonly [string, TestEntry])[] = isList(modules)
    ? modules.map((id) => [id, {}])
    : Object.entries(modules);
  const written = entries.map(([id, { path = `${id}.json`, hash = null, tags = [] }]) => [id, { path, hash, tags }]);
  return JSON.stringify({ version: '1.0', modules: Object.fromEntries(written) });
}

function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value);
}

/** Files of modules that are all of version `version`, and their manifest. */
export function moduleFiles(ids: readonly string[], version: string | number = 1): Record<string, string> {
  const files = ids.map((id) => [`${id}.json`, moduleText(id, version)] as const);
  return { ...Object.fromEntries(files), 'manifest.json': manifestText(ids) };
}
