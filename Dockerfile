# A plain image of the worker. Not built where the project is developed: see docs/scale-out.md.
FROM node:24-bookworm-slim
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev
COPY bin bin
COPY src src
COPY config config
COPY webmon webmon
RUN mkdir -p data && chown -R node:node /app
USER node
ENV GRIDLOOM_MODE=live
VOLUME /app/data
# A stop drains for up to timeouts.drain (20 s): give it 30 s (docker stop -t 30).
STOPSIGNAL SIGTERM
CMD ["./node_modules/.bin/node", "bin/gridloom.mjs", "start"]
