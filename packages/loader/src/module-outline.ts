import type { ArrowFunctionExpression, Expression, Function as FunctionNode, Program, Statement } from 'oxc-parser';

/** What a name at the top of a module stands for. */
export type Binding =
  | { readonly type: 'const'; readonly offset: number; readonly statement: number; readonly value: Expression }
  | { readonly type: 'function'; readonly offset: number; readonly statement: number; readonly value: FunctionNode }
  | { readonly type: 'other'; readonly offset: number; readonly what: string };

/** A name that a module exports as a value: of its own, or (`local` undefined) of another module. */
export interface ExportedName {
  readonly offset: number;
  readonly local: string | undefined;
}

export interface ModuleOutline {
  readonly bindings: ReadonlyMap<string, Binding>;
  readonly exports: ReadonlyMap<string, ExportedName>;
}

export type FunctionLike = FunctionNode | ArrowFunctionExpression;

/** The names at the top of a module and what it exports. Types are no values and are left out. */
export function outlineModule(program: Pick<Program, 'body'>): ModuleOutline {
  const bindings = new Map<string, Binding>();
  const exports = new Map<string, ExportedName>();
  for (const statement of program.body) {
    if (statement.type === 'ImportDeclaration') {
      for (const { local } of statement.specifiers) {
        bindings.set(local.name, { type: 'other', offset: local.start, what: 'imported' });
      }
    } else if (statement.type === 'ExportDefaultDeclaration') {
      exports.set('default', { offset: statement.start, local: undefined });
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
  return { bindings, exports };
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
    if (id.type !== 'Identifier') continue;
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
