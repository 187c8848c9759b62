import type { ParsedModule } from './parse-module.ts';

/** What a module asks for; `specifier` is undefined where only running it would tell. */
export interface ModuleImport {
  readonly specifier: string | undefined;
  /** In the source. */
  readonly offset: number;
}

/** Every import of a module, `import()` in its functions too, but for those of types alone, which Node removes. */
export function listImports(module: ParsedModule, source: string): readonly ModuleImport[] {
  const imports: ModuleImport[] = hasNoStatements(module, source) ? [] : [...listStatements(module)];
  for (const { start, end } of module.dynamicImports) {
    imports.push({ specifier: readPlainText(source.slice(start, end)), offset: start });
  }
  return imports;
}

/** Whether it has no `import` and no `export … from`, as far as that can be seen without its tree. */
function hasNoStatements({ imports }: ParsedModule, source: string): boolean {
  return imports?.length === 0 && !/\bfrom\b/.test(source);
}

function listStatements({ body }: ParsedModule): readonly ModuleImport[] {
  const imports: ModuleImport[] = [];
  for (const statement of body) {
    if (statement.type === 'ImportDeclaration' && statement.importKind !== 'type') {
      imports.push({ specifier: statement.source.value, offset: statement.source.start });
    } else if (
      (statement.type === 'ExportAllDeclaration' || statement.type === 'ExportNamedDeclaration') &&
      statement.exportKind !== 'type' &&
      statement.source !== null
    ) {
      imports.push({ specifier: statement.source.value, offset: statement.source.start });
    }
  }
  return imports;
}

/** Whether it is written for `require`, which an ES module does not have. */
export function isCommonJs(module: ParsedModule, source: string): boolean {
  if (!/\brequire\s*\(|\bmodule\.exports\b|\bexports\.\w/.test(source)) return false;
  return !module.body.some(({ type }) => type === 'ImportDeclaration' || type.startsWith('Export'));
}

/** The text of a literal without escapes; whatever is written otherwise counts as computed. */
function readPlainText(code: string): string | undefined {
  return /^(?:'([^'\\\n]*)'|"([^"\\\n]*)"|`([^`\\$]*)`)$/
    .exec(code.trim())
    ?.slice(1)
    .find((text) => text !== undefined);
}
