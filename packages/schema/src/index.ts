export { compileSchema } from './compile-schema.ts';
export { type CompiledSchema, describeIssues, type SchemaIssue, type Validation } from './compiled.ts';
