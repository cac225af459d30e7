const fs = require('node:fs');
const { createRequire } = require('node:module');
const { join } = require('node:path');
const vm = require('node:vm');

/**
 * Runs a bundle with the code that V8 compiled for it during the build (`bundlePrograms` in bundle.js has the
 * measurements). V8 ignores the code when its version or its flags are others.
 *
 * With `STORE_COMPILED_CODE=1` the processes and threads store their code.
 *
 * @param {string} name the name of the bundle's file
 * @returns its exports
 */
exports.run = function run(name) {
  const filename = join(__dirname, name);
  const codeFile = `${filename}.code`;
  const script = new vm.Script(fs.readFileSync(filename, 'latin1'), {
    filename,
    cachedData: read(codeFile),
  });
  const stores = process.env.STORE_COMPILED_CODE === '1';
  const store = () => fs.writeFileSync(codeFile, script.createCachedData());
  // By then more functions are compiled.
  if (stores) process.on('exit', store);
  const module = { exports: {} };
  script.runInThisContext()(
    createRequire(filename),
    module,
    (specifier) => import(specifier),
    filename,
    __dirname,
  );
  // A thread may be terminated.
  if (stores) store();
  return module.exports;
};

function read(file) {
  try {
    return fs.readFileSync(file);
  } catch {
    return undefined;
  }
}
