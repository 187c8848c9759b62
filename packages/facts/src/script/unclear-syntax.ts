import type { ParameterExpansionPart, SyntaxNode, TestCommand } from 'unbash';

// Subscripts and arithmetic evaluate what a variable holds, commands in it, too. Numbers hold nothing. After an error, such as a
// division by zero, `bash` leaves out the rest of the line, and goes on.
const plainNumbers = /^[\s(]*(?:0|[1-9]\d{0,8})(?:\s*[-+*]\s*(?:0|[1-9]\d{0,8}))*[\s)]*$/;
const plainIndex = /^(?:0|[1-9]\d{0,5})$/;

/** How a here-document's end has to be written to be the same end for every shell. */
function isPlainDelimiter(text: string): boolean {
  return /^(?:\w+|'\w+'|"\w+")$/.test(text);
}

/**
 * Why it is not known what this piece of a script does: it is broken, it runs what a variable holds, or `bash` and other shells
 * read it differently, so that what is a text for the one is a command for the other.
 */
export function findUnclear(node: SyntaxNode): string | undefined {
  switch (node.type) {
    case 'Script':
      if (node.errors !== undefined && node.errors.length > 0) return `it cannot be parsed: ${node.errors[0]?.message}`;
      return node.source === undefined ? undefined : 'backslashes within backticks';
    case 'CommandExpansion':
    case 'ProcessSubstitution':
      if (node.script === undefined) return 'a substitution that cannot be parsed';
      return node.text.startsWith('${') ? 'a substitution that shells read differently' : undefined;
    case 'ArithmeticExpansion':
      return plainNumbers.test(node.text.slice(1)) ? undefined : 'arithmetic with variables';
    case 'ArithmeticCommand':
      return plainNumbers.test(node.body) ? undefined : 'arithmetic with variables';
    case 'ArithmeticFor':
      return 'arithmetic with variables';
    case 'AnsiCQuoted':
      return node.text.includes("\\'") ? "a quote within $'…', which shells read differently" : undefined;
    case 'LocaleString':
      return 'a translated text';
    case 'ExtendedGlob':
      return 'a pattern that shells read differently';
    case 'ParameterExpansion':
      return findUnclearParameter(node);
    case 'TestCommand':
      return findUnclearTest(node);
    case 'HereDoc': {
      const isPlain = node.delimiter !== undefined && isPlainDelimiter(node.delimiter.text);
      return isPlain && node.closing !== undefined ? undefined : 'a here-document whose end is not plain';
    }
    case 'FileDescriptorVariable':
      return 'a variable as the number of a file';
    case 'Coproc':
      return '`coproc`';
    case 'Assignment':
      return node.index === undefined || plainIndex.test(node.index.text) ? undefined : 'arithmetic with variables';
    default:
      return undefined;
  }
}

function findUnclearParameter({ text, prefix, index, operation }: ParameterExpansionPart) {
  if (prefix === '!') return 'a variable that names another';
  if (index !== undefined && !/^[@*]$/.test(index.text) && !plainIndex.test(index.text))
    return 'arithmetic with variables';
  if (prefix === '#' && operation !== undefined) return 'an expansion that is an error';
  // Shells differ in how they read quotes within braces.
  if (/['"\\`{}]/.test(text.slice(2, -1))) return 'quotes or braces within an expansion';
  switch (operation?.type) {
    case undefined:
    case 'Default':
    case 'Remove':
    case 'Replace':
    case 'CaseModification':
      return undefined;
    case 'Slice': {
      const numbers = [operation.offset.text, operation.length?.text ?? '0'];
      return numbers.every((number) => plainIndex.test(number)) ? undefined : 'arithmetic with variables';
    }
    case 'Transform':
    case 'Names':
    case 'Unknown':
      return 'a variable that is evaluated';
    default:
      return operation satisfies never;
  }
}

// What stands between `[[` and `]]` is an operator for bash, and the end of a command for `sh`.
function findUnclearTest({ expression }: TestCommand): string | undefined {
  if (expression.type === 'TestUnary') {
    return /^-[a-uw-zA-QS-Z]$/.test(expression.operator) ? undefined : 'a test that evaluates';
  }
  if (expression.type !== 'TestBinary') return 'a test that shells read differently';
  const { operator, left, right } = expression;
  if (/^(?:==?|!=|-nt|-ot|-ef)$/.test(operator)) return undefined;
  const isNumbers = /^-(?:eq|ne|lt|le|gt|ge)$/.test(operator) && /^\d+$/.test(left.text) && /^\d+$/.test(right.text);
  return isNumbers ? undefined : 'a test that shells read differently';
}
