export { checkToolExamples, findExampleProblem } from './check-examples.ts';
export { compileHostSchema, compileSchema, findMissingCompiler } from './compile-schema.ts';
export { type CompiledSchema, describeIssues, type SchemaIssue, type Validation } from './compiled.ts';
export { collectBranches, resolvePointer } from './undeclared.ts';
