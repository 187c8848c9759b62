declare module '*/direct/features.ts?plain' {
  export { openScope } from '../../packages/executor/src/direct/features.ts';
}
declare module '*/call/context.ts?plain' {
  export { CallContext } from '../../packages/executor/src/call/context.ts';
}
