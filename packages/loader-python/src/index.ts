export { python } from './language.ts';
export { findPython, type PythonState } from './python/find.ts';
