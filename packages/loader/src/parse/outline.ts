import type {
  ArrowFunctionExpression,
  BindingPattern,
  BindingRestElement,
  ExportDefaultDeclaration,
  Expression,
  Function as FunctionNode,
  ImportDeclaration,
  Program,
  Statement,
} from 'oxc-parser';

/** The meaning of a top-level name of a module. */
export type Binding =
  | { readonly type: 'const'; readonly offset: number; readonly statement: number; readonly value: Expression }
  | { readonly type: 'function'; readonly offset: number; readonly statement: number; readonly value: FunctionNode }
  /** `imported` is `*` for the whole module. */
  | { readonly type: 'import'; readonly offset: number; readonly source: string; readonly imported: string }
  | { readonly type: 'other'; readonly offset: number; readonly what: string };

/** An exported value: the module's own, or (`local` undefined) of another module. */
export interface ExportedName {
  readonly offset: number;
  readonly local: string | undefined;
}

export interface ModuleOutline {
  readonly bindings: ReadonlyMap<string, Binding>;
  readonly exports: ReadonlyMap<string, ExportedName>;
  /** Offset of an `export *`, whose names are unknown. */
  readonly exportsAll: number | undefined;
}

export type FunctionLike = FunctionNode | ArrowFunctionExpression;

// The name that the language gives to an unnamed default export.
const defaultName = '*default*';

/** Collects the top-level names and exports of a module, without types. */
export function outlineModule(program: Pick<Program, 'body'>): ModuleOutline {
  const bindings = new Map<string, Binding>();
  const exports = new Map<string, ExportedName>();
  let exportsAll: number | undefined;
  for (const statement of program.body) {
    if (statement.type === 'ImportDeclaration') {
      declareImports(statement, bindings);
    } else if (statement.type === 'ExportDefaultDeclaration') {
      const local = declareDefault(statement, bindings);
      if (local !== undefined) exports.set('default', { offset: statement.start, local });
    } else if (statement.type === 'ExportAllDeclaration') {
      if (statement.exportKind === 'type') continue;
      if (statement.exported === null) exportsAll ??= statement.start;
      else exports.set(nameOf(statement.exported), { offset: statement.start, local: undefined });
    } else if (statement.type === 'ExportNamedDeclaration') {
      if (statement.exportKind === 'type') continue;
      if (statement.declaration !== null) {
        for (const name of declare(statement.declaration, statement.start, bindings)) {
          exports.set(name, { offset: bindings.get(name)?.offset ?? statement.start, local: name });
        }
      }
      for (const { local, exported, exportKind, start } of statement.specifiers) {
        if (exportKind === 'type') continue;
        exports.set(nameOf(exported), { offset: start, local: statement.source === null ? nameOf(local) : undefined });
      }
    } else {
      declare(statement, statement.start, bindings);
    }
  }
  return { bindings, exports, exportsAll };
}

function declareImports(statement: ImportDeclaration, bindings: Map<string, Binding>): void {
  for (const specifier of statement.specifiers) {
    const { name, start: offset } = specifier.local;
    const isType =
      statement.importKind === 'type' || (specifier.type === 'ImportSpecifier' && specifier.importKind === 'type');
    if (isType) {
      bindings.set(name, { type: 'other', offset, what: 'a type' });
      continue;
    }
    const imported =
      specifier.type === 'ImportSpecifier'
        ? nameOf(specifier.imported)
        : specifier.type === 'ImportDefaultSpecifier'
          ? 'default'
          : '*';
    bindings.set(name, { type: 'import', offset, source: statement.source.value, imported });
  }
}

function declareDefault(statement: ExportDefaultDeclaration, bindings: Map<string, Binding>): string | undefined {
  const { declaration, start } = statement;
  switch (declaration.type) {
    case 'TSInterfaceDeclaration':
    case 'TSDeclareFunction':
      return undefined;
    case 'FunctionDeclaration': {
      const local = declaration.id?.name ?? defaultName;
      bindings.set(local, { type: 'function', offset: declaration.start, statement: start, value: declaration });
      return local;
    }
    case 'ClassDeclaration': {
      const local = declaration.id?.name ?? defaultName;
      bindings.set(local, { type: 'other', offset: declaration.start, what: 'a class' });
      return local;
    }
    case 'Identifier':
      return declaration.name;
    default:
      // The parser's types include declarations that cannot follow `export default`.
      bindings.set(defaultName, {
        type: 'const',
        offset: declaration.start,
        statement: start,
        value: declaration as Expression,
      });
      return defaultName;
  }
}

function declare(statement: Statement, start: number, bindings: Map<string, Binding>): readonly string[] {
  if (statement.type === 'FunctionDeclaration') {
    if (statement.id === null) return [];
    const { name, start: offset } = statement.id;
    bindings.set(name, { type: 'function', offset, statement: start, value: statement });
    return [name];
  }
  if (statement.type === 'ClassDeclaration') {
    if (statement.id === null || statement.declare === true) return [];
    const { name, start: offset } = statement.id;
    bindings.set(name, { type: 'other', offset, what: 'a class' });
    return [name];
  }
  if (statement.type !== 'VariableDeclaration' || statement.declare === true) return [];
  const names: string[] = [];
  for (const { id, init } of statement.declarations) {
    if (id.type !== 'Identifier') {
      for (const { name, start: offset } of boundNames(id)) {
        names.push(name);
        bindings.set(name, { type: 'other', offset, what: 'destructured from something else' });
      }
      continue;
    }
    names.push(id.name);
    const offset = id.start;
    if (statement.kind === 'const' && init !== null) {
      bindings.set(id.name, { type: 'const', offset, statement: start, value: init });
    } else {
      bindings.set(id.name, { type: 'other', offset, what: `declared with \`${statement.kind}\`` });
    }
  }
  return names;
}

function nameOf(node: { readonly type: string; readonly name?: string; readonly value?: string }): string {
  return node.name ?? node.value ?? '';
}

type Pattern = BindingPattern | BindingRestElement | null;

function boundNames(pattern: Pattern): readonly { readonly name: string; readonly start: number }[] {
  switch (pattern?.type) {
    case undefined:
      return [];
    case 'Identifier':
      return [pattern];
    case 'AssignmentPattern':
      return boundNames(pattern.left);
    case 'RestElement':
      return boundNames(pattern.argument);
    case 'ArrayPattern':
      return pattern.elements.flatMap(boundNames);
    case 'ObjectPattern':
      return pattern.properties.flatMap((property) =>
        boundNames(property.type === 'Property' ? property.value : property),
      );
  }
}
