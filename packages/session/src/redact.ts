export { defaultSecretKeys } from './redact/names.ts';
export { createRedactor, type RedactorOptions } from './redact/redactor.ts';
export { sealedFiles } from './redact/sealed-files.ts';
export { defaultSecretPatterns } from './redact/shapes.ts';
export { toRedactor } from './redact/to-redactor.ts';
