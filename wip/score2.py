import sys, time as clockmod, collections; sys.path.insert(0,'/work/wt/stages/benchmarks')
import numpy as np
from made_curves import curves
from saddlescope.stages.noise import *
from saddlescope.stages.gaps import find_gaps
import types, subprocess
def old():
    import sys
    pkg=types.ModuleType('oldstages'); sys.modules['oldstages']=pkg; pkg.__path__=[]
    for m in ('value','noise','cuts','find'):
        src=subprocess.run(['git','-C','/work/main','show',f'main:src/saddlescope/stages/{m}.py'],capture_output=True,text=True).stdout.replace('saddlescope.stages','oldstages')
        mod=types.ModuleType(f'oldstages.{m}'); sys.modules[f'oldstages.{m}']=mod; exec(compile(src,m,'exec'),mod.__dict__)
    return sys.modules['oldstages.find'].find_stages
OLD=old()
def find(c):
    y=c.loss/np.abs(c.loss).max(); n=len(y); t=c.time
    g=quantum(y); y,_=without_outliers(y)
    if g and np.median(rising_share(y,0.)*level_of(y))<.3*g: y=unrounded(y)
    if not is_noisy(y): return None
    if c.log_time:
        grid=np.linspace(np.log(t[0]),np.log(t[-1]),n); y=np.interp(grid,np.log(t),y); t=np.exp(grid)
    return [(float(t[x.at]),x) for x in find_gaps(y,Noise(y),g,.05,5.)]
if __name__=='__main__':
    name=sys.argv[1]; verbose=len(sys.argv)>2
    by=collections.defaultdict(collections.Counter); t0=clockmod.process_time()
    for c in curves(name):
        t1=clockmod.process_time()
        r=find(c)
        if len(c.loss)>50000: print(len(c.loss),clockmod.process_time()-t1)
        found=[d.at for d in OLD(c.loss,c.time,log_time=c.log_time).drops] if r is None else [x for x,_ in r]
        T=(lambda v: np.log(v)) if c.log_time else (lambda v: v)
        pos=T(c.time); tol=0.025*(pos[-1]-pos[0]); used=set(); hit=0; miss=[]
        for d,v in zip(c.drops,c.visible):
            a,m,b=d
            cand=[i for i,f in enumerate(found) if i not in used and T(a)-tol<=T(f)<=T(b)+tol]
            if cand: used.add(cand[0]); hit+=v
            elif v: miss.append(round(m))
        false=[f for i,f in enumerate(found) if i not in used]
        if verbose and (miss or false): print(f"{c.family[:18]:18s} {c.noise:14s} n {len(c.loss):5d} {'log' if c.log_time else ''} miss {miss} false {[round(f) for f in false]} all {[round(m) for _,m,_ in c.drops]} found {[(round(x),g.half,g.flank,round(g.deviations,1)) for x,g in r] if r is not None else found}"[:260])
        for k in (('all',),('noise',c.noise),('family',c.family)):
            by[k].update(hit=hit,truth=sum(c.visible),hidden=len(c.drops)-sum(c.visible),false=len(false),curves=1, sfalse=len(false) if not c.drops else 0, scurves=not c.drops)
    for k,v in by.items():
        P=v['hit']/max(v['hit']+v['false']-v['sfalse'],1); R=v['hit']/max(v['truth'],1)
        print(f"{' '.join(k):36s} P {P:.3f} R {R:.3f} truth {v['truth']:4d} false/stageless {v['sfalse']/max(v['scurves'],1):.2f} curves {v['curves']}")
    print(clockmod.process_time()-t0)
