/** Stands in the bundle for packages that the daemon never calls. */
module.exports = () => {
  throw new Error('This part of Fastify is left out of the bundle; see scripts/build.mjs.');
};
