export { checkToolExamples, findExampleProblem } from './check-examples.ts';
export { compileHostSchema, findMissingCompiler } from './compile-schema.ts';
export { collectBranches, resolvePointer } from './undeclared.ts';
