/**
 * Calls a function of a Python file. The request is one JSON text on standard input; the answer, on the original standard output, is a
 * line of JSON that says how the call ended, followed by the value as JSON. Text that the tool prints goes to standard error.
 */
export const pythonCallProgram: string = String.raw`
import hashlib, importlib.machinery as machinery, json, os, sys, time, traceback, types

MAX_TEXT = 20000

def describe(error):
    try:
        message = str(error)
    except BaseException:
        message = ''
    name = type(error).__name__
    return {'message': (name + ': ' + message if message else name)[:MAX_TEXT], 'stack': traceback.format_exc()[:MAX_TEXT]}

def find_place():
    # After the standard library, which files of the folder must not shadow, and before installed packages.
    installed = [index for index, path in enumerate(sys.path) if os.path.basename(path) in ('site-packages', 'dist-packages')]
    return installed[0] if installed else len(sys.path)

def guard(base, files):
    # Loads modules of the folder as they were checked: as UTF-8, without a cache, and only verified files if there is a copy.
    class Loader(machinery.SourceFileLoader):
        def get_code(self, name):
            data = self.get_data(self.path)
            if files is not None and files.get(self.path) != hashlib.sha256(data).hexdigest():
                raise ImportError('"%s" differs from the verified file' % name)
            return compile(data.decode('utf-8-sig'), self.path, 'exec', dont_inherit=True)
    loaders = [(Loader, ['.py'])]
    if files is None:
        loaders.append((machinery.ExtensionFileLoader, machinery.EXTENSION_SUFFIXES))
    make = machinery.FileFinder.path_hook(*loaders)
    def hook(path):
        if path != base and not path.startswith(base + os.sep):
            raise ImportError
        return make(path)
    sys.path_hooks.insert(0, hook)

def load(path, sha256, files):
    with open(path, 'rb') as file:
        data = file.read()
    if hashlib.sha256(data).hexdigest() != sha256:
        return None
    name = os.path.splitext(os.path.basename(path))[0]
    module = types.ModuleType('_tool' if name in sys.modules else name)
    module.__file__ = path
    sys.modules[module.__name__] = module
    base = os.path.dirname(path)
    guard(base, files)
    sys.path.insert(find_place(), base)
    exec(compile(data.decode('utf-8-sig'), path, 'exec', dont_inherit=True), module.__dict__)
    return module

def call(function, passing, arguments):
    result = function() if passing == 'none' else function(arguments) if passing == 'whole' else function(**arguments)
    if hasattr(result, '__await__'):
        import asyncio
        async def wait():
            return await result
        result = asyncio.run(wait())
    return result

def run(request):
    try:
        module = load(request['path'], request['sha256'], request['files'])
        if module is None:
            return {'type': 'changed'}, ''
        function = getattr(module, request['function'], None)
    except BaseException as error:
        return {'type': 'unimportable', **describe(error)}, ''
    if not callable(function):
        return {'type': 'no-function'}, ''
    try:
        result = call(function, request['passing'], request['input'])
    except BaseException as error:
        return {'type': 'threw', **describe(error)}, ''
    try:
        return {'type': 'returned'}, json.dumps(result, allow_nan=False)
    except BaseException as error:
        return {'type': 'unfit', 'problem': str(error)[:200]}, ''

def leave():
    # The answer is written; threads that still run get some time to end.
    threading = sys.modules.get('threading')
    if threading is None:
        return
    end = time.monotonic() + 2
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join(max(0, end - time.monotonic()))
            if thread.is_alive():
                os._exit(0)

def main():
    answer = os.dup(1)
    os.dup2(2, 1)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)
    request = json.loads(sys.stdin.buffer.read().decode('utf-8'))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    header, value = run(request)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass
    with os.fdopen(answer, 'w', encoding='utf-8') as file:
        file.write(json.dumps(header) + '\n' + value)
    leave()

main()
`;
